// What the nodes of autograd/leaf.h do in the backward pass.
#include "hotaru/autograd/leaf.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/shape/view_grad.h"

namespace hotaru::autograd {
namespace {

/// A gradient nobody else holds may become the leaf's own.
Tensor take_or_copy(Tensor grad) {
  const bool sole = grad.ref()->use_count() == 1 &&
                    grad.storage()->use_count() == 1 && !grad.is_view();
  if (!sole || grad_enabled()) return clone(grad);
  return grad;
}

}  // namespace

Tensors AccumulateGrad::apply(Tensors grads) {
  Tensor grad = std::move(grads[0]);
  Meta& m = ensure_meta(variable_);
  const auto hooks = m.hooks;
  for (const auto& [id, hook] : hooks)
    if (Tensor other = hook(grad); other.defined()) grad = std::move(other);
  if (!m.grad.defined())
    m.grad = take_or_copy(std::move(grad));
  else if (grad_enabled())
    m.grad = add(m.grad, grad);
  else
    add_(m.grad, grad);
  const auto post = m.post_accumulate_hooks;
  for (const auto& [id, hook] : post) hook(variable_);
  return {};
}

Tensors AsStridedBackward::apply(Tensors grads) {
  const Tensor memory =
      scatter_strided(grads[0], base_extent_, view_.strides, view_.offset);
  return {as_strided(memory, base_.sizes, base_.strides, base_.offset)};
}

Tensors CopySlices::apply(Tensors grads) {
  // The base's gradient, with the written part replaced by what the writer
  // makes of it.
  const Tensor whole = contiguous(clone(grads[0]));
  const auto part = [&](const Tensor& t) {
    return as_strided(t, view_.sizes, view_.strides, view_.offset);
  };
  Tensors result = writer_->apply({clone(part(whole))});
  Tensor kept = result.empty() ? Tensor() : std::move(result[0]);
  const Tensor target = part(whole);
  if (kept.defined())
    copy_(target, kept);
  else
    zero_(target);
  Tensors out{whole};
  for (size_t i = 1; i < result.size(); ++i)
    out.push_back(std::move(result[i]));
  return out;
}

}  // namespace hotaru::autograd
