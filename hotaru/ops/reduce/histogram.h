// Counts of values: of integers, and in bins.
#pragma once

#include "hotaru/core/scalar.h"
#include "hotaru/core/tensor.h"

namespace hotaru {

/// How often each integer occurs in a vector, or the sum of its weights.
/// Waits for self.
Tensor bincount(const Tensor& self, const Tensor& weights = {},
                int64_t minlength = 0);
/// Counts in equal bins between min and max; both 0: the range of self.
Tensor histc(const Tensor& self, int64_t bins = 100, const Scalar& min = 0,
             const Scalar& max = 0);

}  // namespace hotaru
