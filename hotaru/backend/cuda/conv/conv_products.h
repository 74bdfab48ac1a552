// Convolution by matrix products, where no library is.
#pragma once

#include "hotaru/backend/cuda/params/conv.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cuda {

/// Sizes of a convolution: channels of x and y in one of its groups.
struct ConvSizes {
  int64_t samples, groups, in, out, taps, positions;

  int64_t depth() const { return in * taps; }
};

/// Queues "conv_forward" as p says it: windows become columns in working
/// memory, some samples at a time, and a product of matrices sums them up.
/// False, and nothing was done, where products would have too few rows,
/// columns or summands to be worth the columns. Floats only.
bool convolve_by_products(const ConvParams& p, const ConvSizes& sizes,
                          DType dtype);

}  // namespace hotaru::cuda
