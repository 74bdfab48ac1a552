#include "hotaru/graph/passes/restated.h"

#include "hotaru/backend/common/pointwise/walk.h"

namespace hotaru::graph {

std::optional<Restated> Restated::over(const Tensor& whole,
                                       const KernelCall& call) {
  for (const Operand& view : call.operands()) {
    if (view.tensor->numel() != call.tensor(0).numel()) continue;
    const std::optional<Walk> walk = Walk::of(whole, *view.tensor);
    if (!walk) continue;
    Restated out;
    for (const Operand& operand : call.operands()) {
      const Tensor& t = *operand.tensor;
      out.tensors.push_back(t.dim() == 0
                                ? t
                                : Tensor(make_ref<TensorImpl>(
                                      t.storage(), t.dtype(), whole.sizes(),
                                      walk->strides(t), t.storage_offset())));
    }
    return out;
  }
  return {};
}

void Restated::apply(const KernelCall& call) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    call.tensor(i).impl()->set_geometry(
        tensors[i].sizes(), tensors[i].strides(), tensors[i].storage_offset());
}

}  // namespace hotaru::graph
