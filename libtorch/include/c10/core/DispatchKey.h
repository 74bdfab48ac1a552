// Keys that kernels are registered for: layers and devices.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

namespace c10 {

// Keys that hotaru's calls reach are in hotaru/ops/own/keys.h; kernels for the
// others (XLA, PrivateUse1, Sparse ...) can be registered and never run.
#define HOTARU_TORCH_DISPATCH_KEYS(X) \
  X(Undefined) \
  X(CPU) \
  X(CUDA) \
  X(HIP) \
  X(XLA) \
  X(MPS) \
  X(IPU) \
  X(XPU) \
  X(HPU) \
  X(VE) \
  X(Lazy) \
  X(MTIA) \
  X(MAIA) \
  X(Meta) \
  X(PrivateUse1) \
  X(PrivateUse2) \
  X(PrivateUse3) \
  X(QuantizedCPU) \
  X(QuantizedCUDA) \
  X(QuantizedMeta) \
  X(SparseCPU) \
  X(SparseCUDA) \
  X(SparseCsrCPU) \
  X(SparseCsrCUDA) \
  X(NestedTensorCPU) \
  X(NestedTensorCUDA) \
  X(BackendSelect) \
  X(Python) \
  X(FuncTorchBatched) \
  X(Functionalize) \
  X(Conjugate) \
  X(Negative) \
  X(ZeroTensor) \
  X(ADInplaceOrView) \
  X(AutogradOther) \
  X(AutogradCPU) \
  X(AutogradCUDA) \
  X(AutogradXLA) \
  X(AutogradMPS) \
  X(AutogradXPU) \
  X(AutogradHPU) \
  X(AutogradLazy) \
  X(AutogradMeta) \
  X(AutogradMTIA) \
  X(AutogradPrivateUse1) \
  X(AutogradPrivateUse2) \
  X(AutogradPrivateUse3) \
  X(AutogradNestedTensor) \
  X(AutocastCPU) \
  X(AutocastCUDA) \
  X(AutocastXPU) \
  X(AutocastMPS) \
  X(AutocastPrivateUse1) \
  X(Tracer) \
  X(Autograd) \
  X(CompositeImplicitAutograd) \
  X(CompositeExplicitAutograd) \
  X(CompositeExplicitAutogradNonFunctional)

enum class DispatchKey : uint16_t {
#define HOTARU_TORCH_KEY(name) name,
  HOTARU_TORCH_DISPATCH_KEYS(HOTARU_TORCH_KEY)
#undef HOTARU_TORCH_KEY
      Autocast = AutocastCUDA,
  /// Kernels that were registered without a key.
  CatchAll = CompositeImplicitAutograd,
};

const char* toString(DispatchKey key);
inline std::ostream& operator<<(std::ostream& out, DispatchKey key) {
  return out << toString(key);
}
/// Throws c10::Error for what is no key.
DispatchKey parseDispatchKey(std::string_view name);

}  // namespace c10

namespace torch {
using c10::DispatchKey;
}
namespace at {
using c10::DispatchKey;
}
