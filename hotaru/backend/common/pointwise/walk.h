// Walking tensors as the elements of another one are walked.
#pragma once

#include <optional>
#include <vector>

#include "hotaru/core/tensor.h"

namespace hotaru {

/// How steps along the dimensions of a tensor are steps along those of a view
/// that has all of its elements, such as one with dimensions exchanged or
/// joined.
class Walk {
 public:
  /// `whole` has no two elements at one address. Nothing if `view` does not
  /// have each of its elements once, or if some step takes more than one there.
  static std::optional<Walk> of(const Tensor& whole, const Tensor& view);

  /// The steps of t, which broadcasts to the view's sizes, in its elements: one
  /// for each dimension of the whole, 0 for those of one element.
  std::vector<int64_t> strides(const Tensor& t) const;

 private:
  /// By `factor` along dimension `dim` of the view, counted from the last: -1.
  struct Step {
    int64_t dim = 0, factor = 0;
  };
  std::vector<Step> steps_;
};

}  // namespace hotaru
