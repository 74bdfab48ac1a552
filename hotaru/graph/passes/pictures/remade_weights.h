// Weights of convolutions on blocked pictures in other forms.
#pragma once

#include <unordered_map>

#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/core/tensor.h"
#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// For packed weights that calls of a region's `once` make, the same ones made
/// by another kernel, or with other attributes, from what they are made of.
class RemadeWeights {
 public:
  struct Form {
    Tensor weight;  // without its numbers
    BlockedWeightAttributes attributes;
  };
  /// Change of a packed weight made of w with such attributes.
  using Change = Form (*)(const Tensor& packed, const Tensor& w,
                          const BlockedWeightAttributes&);

  /// `kernel` has the operands of "blocked_weight".
  RemadeWeights(Region& region, const Kernel& kernel, Change change)
      : region_(region), kernel_(kernel), change_(change) {}

  /// Undefined where nothing of `once` makes it. Made at its first use.
  Tensor of(const Tensor& packed);
  /// Takes out of `once` what made weights that no node reads any more.
  void drop_unread();

 private:
  Region& region_;
  const Kernel& kernel_;
  Change change_;
  std::unordered_map<const Storage*, Tensor> made_;
};

}  // namespace hotaru::graph
