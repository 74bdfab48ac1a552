// Backward pass of the nodes of autograd/leaf.h.
#include "hotaru/autograd/leaf.h"

#include "hotaru/autograd/record.h"
#include "hotaru/engine/strided_memory.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/shape/view_grad.h"
#include "hotaru/ops/sparse/sum.h"
#include "hotaru/runtime/profiler.h"

namespace hotaru::autograd {
namespace {

/// True if nobody but its owners holds the tensor or its memory.
bool is_sole(const Tensor& t, int64_t owners) {
  const Ref<TensorImpl>& base = t.impl()->base;
  return t.ref()->use_count() == owners && (!base || base->use_count() == 1) &&
         t.storage()->use_count() == (base ? 2 : 1);
}

/// Tells whether a gradient lies in memory as its leaf does, or row-major if
/// that has gaps.
bool fits_layout(const Tensor& grad, const Tensor& leaf) {
  if (!is_dense(leaf.sizes(), leaf.strides())) return grad.is_contiguous();
  for (size_t d = 0; d < grad.sizes().size(); ++d)
    if (grad.sizes()[d] > 1 && grad.strides()[d] != leaf.strides()[d])
      return false;
  return true;
}

/// A sparse gradient with parts of its own.
Tensor own_parts(const Tensor& grad, int64_t owners) {
  const SparseStorage& storage = *sparse_storage(grad);
  const SparseStorage::Parts& parts = storage.parts();
  if (grad.ref()->use_count() == owners && storage.use_count() == 1 &&
      parts.values.ref()->use_count() == 1)
    return make_alias(grad);
  const auto copied = [](const Tensor& t) {
    return t.defined() ? clone(t) : Tensor();
  };
  return make_sparse({parts.layout, copied(parts.index), copied(parts.inner),
                      copied(parts.values)},
                     grad.sizes(), storage.coalesced());
}

/// A leaf's first gradient. One that nobody else holds may become it.
Tensor take_or_copy(Tensor grad, const Tensor& leaf, int64_t owners) {
  // Its object in Python may be more than its parts.
  if (is_opaque(grad))
    return sparse_storage(grad) ? own_parts(grad, owners) : grad;
  if (!fits_layout(grad, leaf))
    return is_dense(leaf.sizes(), leaf.strides())
               ? copy_(empty_like(leaf, grad.dtype(), {}, {}), grad)
               : contiguous(grad);
  if (grad_enabled())
    return copy_(empty_like(leaf, grad.dtype(), {}, {}), grad);
  if (!is_sole(grad, owners)) return clone(grad);
  leave_base(grad);
  return grad;
}

}  // namespace

Tensors AccumulateGrad::apply(Tensors grads) {
  Tensor grad = std::move(grads[0]);
  // The engine keeps what it hands to hooks that run behind this.
  Meta& m = ensure_meta(variable_);
  if (grad.defined()) {
    if (!m.grad.defined())
      m.grad =
          take_or_copy(std::move(grad), variable_, post_hooks.empty() ? 1 : 2);
    else if (is_opaque(m.grad) || is_opaque(grad))
      m.grad = sum_of_opaque(m.grad, grad);
    else if (grad_enabled())
      m.grad = add(m.grad, grad);
    else
      add_(m.grad, grad);
  }
  for (const auto& hook : m.post_accumulate_hooks.now()) hook(variable_);
  return {};
}

void AccumulateGrad::run_tensor_hooks(Tensors& grads) {
  if (const Meta* m = meta(variable_))
    for (const auto& hook : m->hooks.now())
      if (Tensor other = hook(grads[0]); other.defined())
        grads[0] = std::move(other);
}

Tensor read_as(const Tensor& memory, DType dtype) {
  if (memory.dtype() == dtype) return memory;
  if (memory.is_complex()) return view(view_as_real(memory), Dims{-1});
  return view_as_complex(view(memory, Dims{-1, 2}));
}

Tensor at(const Tensor& memory, const Layout& layout) {
  return as_strided(read_as(memory, layout.dtype), layout.sizes, layout.strides,
                    layout.offset);
}

Tensors AsStridedBackward::apply(Tensors grads) {
  if (!grads[0].defined()) return {};
  const Layout& view = map_.view;
  const Tensor memory = scatter_strided(grads[0], map_.extent(view.dtype),
                                        view.strides, view.offset);
  return {at(read_as(memory, map_.base.dtype), map_.base)};
}

Tensors CopySlices::apply(Tensors grads) {
  if (!grads[0].defined()) return {};
  // The base's gradient in the order in which the base lies, with the written
  // part replaced by what the writer makes of it.
  const DType dtype = map_.base.dtype;
  const Tensor memory =
      zeros(Dims{map_.extent(dtype)}, {dtype, grads[0].device()});
  copy_(at(memory, map_.base), grads[0]);
  const auto write = [&] {
    const Tensor grad = clone(at(memory, map_.view));
    const hotaru::detail::NodeScope scope(writer_->name(), writer_->sequence(),
                                          false);
    return writer_->apply({grad});
  };
  Tensors out = write();
  out.resize(std::max(out.size(), slot_ + 1));
  const Tensor target = at(memory, map_.view);
  if (out[slot_].defined())
    copy_(target, out[slot_]);
  else
    zero_(target);
  out[slot_] = at(memory, map_.base);
  return out;
}

}  // namespace hotaru::autograd
