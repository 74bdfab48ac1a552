// Convolution and its gradients as products of matrices, where no library is.
// Operands are gathered while the product runs (params/conv/gather.h), from
// where they lie, row by row or with their channels last; there are no columns
// in memory, and each output is summed in one order.
#pragma once

#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/backend/cuda/libraries/cudnn_conv.h"

namespace hotaru::cuda {

/// Queues a convolution of floats that have elements: y of x and w, x of y and
/// w, or w of x and y; a bias, if defined, is added. False, and nothing was
/// done, where products would have too few rows, columns or summands.
bool convolve_by_products(ConvKind kind, const Tensor& x, const Tensor& w,
                          const Tensor& y, const Tensor& bias,
                          const ConvAttributes& attributes);

}  // namespace hotaru::cuda
