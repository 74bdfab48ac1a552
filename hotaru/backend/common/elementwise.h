// Elementwise kernels, taken apart: what they do to some elements, apart from
// which elements these are. Calls that run again and again keep both; fused
// calls of graphs (graph/program/fused_call.h) run the first over tiles.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include "hotaru/backend/common/loop_nest.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {

/// An inner loop and its context, as dtypes and attributes of a call decide
/// them: memory is not looked at.
struct Elementwise {
  explicit Elementwise(LoopNest::Inner loop) : inner(loop) {}
  template <class F>
  Elementwise(LoopNest::Inner loop, const F& formula)
      : inner(loop), size(std::is_empty_v<F> ? 0 : sizeof(F)) {
    static_assert(sizeof(F) <= sizeof(context) && alignof(F) <= 16);
    static_assert(std::is_trivially_copyable_v<F>);
    std::memcpy(context, &formula, size);
  }
  /// True if it computes the same from the same elements.
  bool same(const Elementwise& other) const {
    return inner == other.inner && size == other.size &&
           std::memcmp(context, other.context, size) == 0;
  }

  LoopNest::Inner inner;
  size_t size = 0;
  alignas(16) std::byte context[64];
};

/// Looks at no operand's memory. Nothing if the kernel does better for this
/// call than loop over elements. Throws as the kernel does if there is no code
/// for an operand's dtype.
using ElementwiseFunction =
    std::optional<Elementwise> (*)(const KernelCall& call);
/// The CPU's for that kernel; null if it is not elementwise. Kernels set
/// theirs while their library is loaded.
ElementwiseFunction elementwise_function(const Kernel& kernel);
void set_elementwise(const Kernel& kernel, ElementwiseFunction f);

/// Runs it over the call's operands: the output, then what broadcasts to it;
/// at most LoopNest::kMaxOperands.
void run_elementwise(const KernelCall& call, const Elementwise& loop);

/// Operands that have no memory yet are given none before it first runs.
class ElementwiseCall final : public PreparedCall {
 public:
  ElementwiseCall(const KernelCall& call, const Elementwise& loop);
  const Elementwise& loop() const { return loop_; }

  void run() override {
    if (flat_) [[likely]]
      return loop_.inner(loop_.context, data_.data(), strides_.data(), numel_);
    if (!nest_) find_operands();
    nest_->run(kGrainSize, loop_.inner, loop_.context);
  }

 private:
  void find_operands();

  Elementwise loop_;
  // Set where one call of the inner loop can do all, in this thread.
  bool flat_ = false;
  LoopNest::Pointers data_;
  LoopNest::Strides strides_;
  int64_t numel_;
  const KernelCall* call_;
  std::unique_ptr<LoopNest> nest_;
};

template <ElementwiseFunction loop>
std::unique_ptr<PreparedCall> prepare_elementwise(const KernelCall& call) {
  const std::optional<Elementwise> made = loop(call);
  return made ? std::make_unique<ElementwiseCall>(call, *made) : nullptr;
}
template <ElementwiseFunction loop>
void elementwise_kernel(const KernelCall& call) {
  run_elementwise(call, *loop(call));
}

/// At namespace scope: implements a kernel for the CPU. `f`: the function to
/// run where loop may give nothing.
template <ElementwiseFunction loop>
struct ElementwiseRegistration {
  explicit ElementwiseRegistration(
      std::string_view name, KernelFunction check = nullptr,
      KernelFunction f = &elementwise_kernel<loop>) {
    Kernel& k = kernel(name);
    k.set(DeviceType::kCPU, f, check);
    k.set_prepare(DeviceType::kCPU, &prepare_elementwise<loop>);
    set_elementwise(k, loop);
  }
};

}  // namespace hotaru
