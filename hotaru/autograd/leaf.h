// The nodes that autograd makes by itself: where gradients of leaves end, and
// what an in-place write into a view does to its base. Their apply() needs
// operators, so it is defined beside the engine.
#pragma once

#include "hotaru/autograd/node.h"
#include "hotaru/autograd/view_map.h"

namespace hotaru::autograd {

/// Adds what arrives to the leaf's `grad`. One at most lives for each leaf.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);
  ~AccumulateGrad() override;
  Tensors apply(Tensors grads) override;
  void run_tensor_hooks(Tensors& grads) override;
  const Tensor& variable() const { return variable_; }

 private:
  Tensor variable_;
};

/// Tells whether gradients of the tensors reach a leaf of a level below this
/// one (Meta::level): one that somebody else than the level's transform made.
bool reaches_below(const Tensors& tensors, uint32_t level);

/// Before a leaf becomes another tensor (`x.data = y`) of another dtype or
/// device: graphs that live keep the node they have, and the next get one for
/// what the leaf is then.
void forget_accumulator(const Tensor& leaf);

/// The dtype of a leaf's gradient: the leaf's own unless another was set;
/// none: any. Throws Error for a tensor that is no leaf.
std::optional<DType> grad_dtype(const Tensor& leaf);
/// Sets it, for graphs that live, too. Throws Error for a tensor that is no
/// leaf, or has a gradient of another dtype.
void set_grad_dtype(const Tensor& leaf, std::optional<DType> dtype);

/// x.data = y: from now on `self` looks at the other's memory, with its dtype
/// and geometry. Throws PyTorch's text where that can't have gradients.
void set_data(const Tensor& self, const Tensor& other);

/// The gradient of a view to its base; regenerated when the base was written.
class AsStridedBackward final : public Node {
 public:
  AsStridedBackward(const Tensor& base, const Tensor& view);
  Tensors apply(Tensors grads) override;

 private:
  ViewMap map_;
};

/// The history of a base after a write into one of its views: the gradient of
/// the written part goes through the writing operator, the rest passes by.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> writer,
             size_t slot);
  Tensors apply(Tensors grads) override;
  void release_saved() override { writer_->release_saved(); }

 private:
  ViewMap map_;
  Ref<Node> writer_;
  size_t slot_;
};

/// Tells whether writes into the tensor are to be seen by a base that others
/// can reach. A base that only this view holds on to is given up.
bool writes_base(const Tensor& t);

/// The tensor is no view any more; it keeps the tangent it had of its base.
void leave_base(const Tensor& t);

/// After `writer`, whose input `slot` the view is, wrote into it in place:
/// gives the base a CopySlices history and the view a new one through it. The
/// view must be the writer's only output.
void rebase_view(const Tensor& view, const Ref<Node>& writer, size_t slot);

/// The view's own history is stale; its next use derives one from the base.
void forget_history(const Tensor& view);

}  // namespace hotaru::autograd
