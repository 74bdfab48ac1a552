#include "hotaru/backend/common/elementwise.h"

#include <unordered_map>

#include "hotaru/core/tensor.h"

namespace hotaru {

namespace {

LoopNest nest_of(const KernelCall& call) {
  const size_t count = call.operands().size();
  const Tensor* tensors[LoopNest::kMaxOperands];
  for (size_t i = 0; i < count; ++i) tensors[i] = &call.tensor(i);
  return LoopNest({tensors, count});
}

using Functions = std::unordered_map<const Kernel*, ElementwiseFunction>;
Functions& functions() {
  static Functions all;
  return all;
}

}  // namespace

ElementwiseFunction elementwise_function(const Kernel& kernel) {
  const auto at = functions().find(&kernel);
  return at == functions().end() ? nullptr : at->second;
}

void set_elementwise(const Kernel& kernel, ElementwiseFunction f) {
  functions()[&kernel] = f;
}

void run_elementwise(const KernelCall& call, const Elementwise& loop) {
  nest_of(call).run(kGrainSize, loop.inner, loop.context);
}

ElementwiseCall::ElementwiseCall(const KernelCall& call,
                                 const Elementwise& loop)
    : loop_(loop), call_(&call) {
  for (const Operand& operand : call.operands())
    if (operand.tensor->storage()->pending()) return;
  find_operands();
}

void ElementwiseCall::find_operands() {
  nest_ = std::make_unique<LoopNest>(nest_of(*call_));
  flat_ =
      nest_->dims() == 1 && nest_->numel() > 0 && nest_->numel() <= kGrainSize;
  data_ = nest_->data();
  strides_ = nest_->inner_strides();
  numel_ = nest_->numel();
}

}  // namespace hotaru
