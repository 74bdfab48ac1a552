// Attributes of kernels that work on lines along one dimension.
#pragma once

#include <cstdint>

namespace hotaru {

/// max_dim, min_dim, argmax, argmin, cumsum, cummax, softmax, flip ...: the
/// dimension, wrapped; 0 for a scalar, which is one line of one element.
struct LineAttributes {
  int64_t dim = 0;
};

/// sort, topk and kthvalue. `k` counts from one.
struct SortAttributes {
  int64_t dim = 0;
  bool descending = false;
  bool sorted = true;
  int64_t k = 0;
};

/// Kernel "median": the lower of the two middle elements. NaN makes the
/// result NaN, or is left out.
struct MedianAttributes {
  int64_t dim = 0;
  bool skip_nan = false;
};

}  // namespace hotaru
