// Convolution over one, two or three spatial dimensions.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// input [N, C, ...], weight [O, C / groups, ...] (transposed: [C, O / groups,
/// ...]), bias [O] or undefined. The lists have one entry a spatial dimension
/// or a single one for all. Gives [N, O, ...] with, for each dimension,
///   (in + 2 padding - dilation (kernel - 1) - 1) / stride + 1
/// or, transposed,
///   (in - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1.
Tensor convolution(const Tensor& input, const Tensor& weight,
                   const Tensor& bias, IntSpan stride, IntSpan padding,
                   IntSpan dilation, bool transposed, IntSpan output_padding,
                   int64_t groups);

}  // namespace hotaru
