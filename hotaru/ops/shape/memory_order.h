// The order in which a tensor's dimensions lie in memory.
#pragma once

#include <algorithm>
#include <numeric>

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Dimensions by falling stride; equal ones in their own order. Permuted so, a
/// dense tensor is contiguous.
inline Dims memory_order(const Tensor& t) {
  Dims order(size_t(t.dim()), 0);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return t.strides()[size_t(a)] > t.strides()[size_t(b)];
  });
  return order;
}

}  // namespace hotaru
