// Elementwise calls in other dimensions: views between calls exchange and join
// them, while the elements stay what they are.
#pragma once

#include <optional>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::graph {

/// The tensors of an elementwise call over the dimensions of another shape;
/// those without dimensions as they are.
struct Restated {
  std::vector<Tensor> tensors;

  /// Over those of `whole`, which some operand is a view of. Nothing if no
  /// operand is, or if a step along its dimensions takes several in the call's.
  static std::optional<Restated> over(const Tensor& whole,
                                      const KernelCall& call);
  /// The call, which a graph owns, is so from now on.
  void apply(const KernelCall& call) const;
};

}  // namespace hotaru::graph
