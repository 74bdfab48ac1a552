// Convolution and its gradients by matrix products, where no library is.
// Windows become columns in working memory, some samples at a time, and a
// product of matrices sums them up, each output in one order.
#pragma once

#include "hotaru/backend/cuda/params/conv.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cuda {

/// Sizes of a convolution: channels of x and y in one of its groups.
struct ConvSizes {
  int64_t samples, groups, in, out, taps;
};

/// Queue "conv_forward", "conv_data" and "conv_weight" as p says them, floats
/// only. False, and nothing was done, where products would have too few rows,
/// columns or summands to be worth the columns, or the columns would not fit.
bool forward_by_products(const ConvParams& p, const ConvSizes& s, DType dtype);
bool data_by_products(const ConvParams& p, const ConvSizes& s, DType dtype);
bool weight_by_products(const ConvParams& p, const ConvSizes& s, DType dtype);

}  // namespace hotaru::cuda
