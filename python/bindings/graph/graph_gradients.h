// Gradients that a captured function leaves with leaves, or finds there: where
// it calls `backward` itself, or steps an optimizer.
#pragma once

#include <span>
#include <vector>

#include "hotaru/autograd/node.h"

namespace hotaru::python {

/// The `grad` of one leaf before and after calls. To be used with the
/// interpreter's lock held.
struct LeafGradient {
  Tensor leaf;
  /// Set if the capture found one, with which, if the graph reads or writes
  /// that memory.
  bool given = false;
  Tensor before;
  /// Gradient that the capture left, in the graph's memory; undefined for none.
  Tensor after;
  /// Set if the function looked at the gradient, and left it alone.
  bool kept = false;

  /// True if calls may find the leaf's gradient as it is, or do once bring()
  /// was called.
  bool fits() const;
  bool ready() const;
  /// Copies the gradient to where the graph looks for it, if it fits.
  void bring() const;
  /// As the capture left it.
  void bind() const;
};
using LeafGradients = std::vector<LeafGradient>;

/// True if a backward pass went through what made one of these tensors, so that
/// none can any more.
bool history_released(const std::vector<Tensor>& tensors);

/// The results of a call whose backward passed within it: tensors with a
/// history, through which no other pass goes.
void record_spent(std::span<const Tensor> results,
                  const std::vector<bool>& requires_grad);

}  // namespace hotaru::python
