// The three sides of convolution as differentiable functions.
#pragma once

#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/ops/boxing.h"

namespace hotaru {

// With T(x, w, y) = sum over all windows of x * w * y, each function is the
// derivative of T by the argument it lacks; so the gradients of each are the
// two others, to any order. Operands are made row-major here; sizes were
// checked before. `name` is that of the node to record.

/// Result's size of a convolution, and what kernels are told.
struct ConvPlan {
  Dims size;
  ConvAttributes attributes;
};
/// Checks the arguments of convolution(), with its errors.
ConvPlan plan_convolution(const Tensor& input, const Tensor& weight,
                          const Tensor& bias, IntSpan stride, IntSpan padding,
                          IntSpan dilation, bool transposed,
                          IntSpan output_padding, int64_t groups);

/// The gradient of a bias: the sum of g over everything but the channels.
Tensor bias_gradient(const Tensor& g);

/// y of size `y_size`, plus a bias by channel unless undefined.
Tensor conv_forward(const char* name, const Tensor& x, const Tensor& w,
                    const Tensor& bias, IntSpan y_size,
                    const ConvAttributes& attributes);
/// x of size `x_size`, plus a bias by channel unless undefined.
Tensor conv_data(const char* name, const Tensor& y, const Tensor& w,
                 const Tensor& bias, IntSpan x_size,
                 const ConvAttributes& attributes);
/// w of size `w_size`.
Tensor conv_weight(const char* name, const Tensor& y, const Tensor& x,
                   IntSpan w_size, const ConvAttributes& attributes);

}  // namespace hotaru
