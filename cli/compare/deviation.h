// How far numbers are from those that they should be.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/core/value.h"

namespace hotaru::cli {

/// Differences of a tensor's elements to wanted ones.
struct Deviation {
  /// The largest, and the mean of all; not a number if one of the tensors has
  /// what the other has not (NaN, or infinity of one sign).
  double largest = 0, mean = 0;
  /// The largest magnitude of a wanted element that is finite.
  double magnitude = 0;
  /// How many elements differ, and how many there are.
  int64_t differing = 0, elements = 0;

  /// Relative to the largest magnitude; absolute if that is zero.
  double relative() const { return over(largest); }
  double relative_mean() const { return over(mean); }

 private:
  double over(double x) const { return magnitude > 0 ? x / magnitude : x; }
};

/// Deviation of real tensors of equal shape, computed in double precision.
/// Throws Error for shapes that differ, NotImplementedError for complex
/// numbers.
Deviation deviation(const Tensor& made, const Tensor& wanted);

/// The tensors of a result, in order: of lists, tuples and values of dicts.
std::vector<Tensor> tensors_of(const Value& result);

}  // namespace hotaru::cli
