// What the kernel of convolutions of 8-bit integers is told besides its
// operands.
#pragma once

#include "hotaru/core/shape.h"

namespace hotaru {

/// Operands of "int8_conv": write y [N, O, ...]; read x [N, C, ...] and w [O, C
/// / groups, ...], row-major, each uint8 or int8; read x_zero, a number, and
/// w_zero, one or O, in their dtypes (undefined: none); read bias, int32 [O]
/// (undefined: none); read x_scale, w_scale (one or O), y_scale and y_zero. As
/// in "int8_matmul" y is int32 sums, which wrap, and the last four undefined,
/// or of y_zero's dtype,
///   saturate(round((sums + bias) * (x_scale * w_scale / y_scale)) + y_zero)
/// One entry a spatial dimension, of which there are one to three; input
/// position i = o * stride - padding + k * dilation, outside of x its zero
/// point.
struct Int8ConvAttributes {
  Dims stride, padding, dilation;
  int64_t groups = 1;
};

}  // namespace hotaru
