// The nodes that autograd makes by itself: where gradients of leaves end, and
// what an in-place write into a view does to its base. Their apply() needs
// operators, so it is defined beside the engine.
#pragma once

#include "hotaru/autograd/node.h"

namespace hotaru::autograd {

/// Adds what arrives to the leaf's `grad`. One at most lives for each leaf.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);
  ~AccumulateGrad() override;
  Tensors apply(Tensors grads) override;
  const Tensor& variable() const { return variable_; }

 private:
  Tensor variable_;
};

/// Strides of a view within its base.
struct ViewGeometry {
  Dims sizes, strides;
  int64_t offset = 0;
};

/// The gradient of a view to its base; regenerated when the base was written.
class AsStridedBackward final : public Node {
 public:
  AsStridedBackward(const Tensor& base, const Tensor& view);
  Tensors apply(Tensors grads) override;

 private:
  ViewGeometry base_, view_;
  int64_t base_extent_;
};

/// The history of a base after a write into one of its views: the gradient of
/// the written part goes through the writing operator, the rest passes by.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> writer);
  Tensors apply(Tensors grads) override;
  void release_saved() override { writer_->release_saved(); }

 private:
  ViewGeometry view_;
  Ref<Node> writer_;
};

/// After `writer` wrote into `view` in place: gives the base a CopySlices
/// history and the view a new one through it.
void rebase_view(const Tensor& view, const Ref<Node>& writer);

}  // namespace hotaru::autograd
