// The dtypes a kernel has code for, said once: the kernel chooses its code by
// them, and a queue refuses by them what the kernel could only refuse later.
//
//   constexpr KernelTypes<FloatingTypes> kNllTypes{2, "nll_loss_out_frame"};
//
//   void nll_loss(const KernelCall& call) {
//     kNllTypes.visit(call, [&]<class T>() { ... });
//   }
//   HOTARU_KERNEL(kCPU, "nll_loss", nll_loss, check_types<kNllTypes>);
//
// Kernels with code for every dtype need none of it.
#pragma once

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru {

/// Chosen by the dtype of one operand.
template <class Types>
struct KernelTypes {
  size_t operand;
  /// Name that the error gives the kernel; null: its own.
  const char* name = nullptr;

  /// Calls f.template operator()<T>() for the operand's C++ type. Throws
  /// NotImplementedError with PyTorch's text when Types lacks it.
  template <class F>
  void visit(const KernelCall& call, F&& f) const {
    visit_dtype(Types{}, call.tensor(operand).dtype(),
                name ? name : call.kernel().name().c_str(), f);
  }
};

/// Throws what `types.visit` would, and does nothing else. `types`: a
/// KernelTypes or another class with that function.
template <const auto& types>
void check_types(const KernelCall& call) {
  types.visit(call, []<class>() {});
}

}  // namespace hotaru
