// What the kernel of convolutions of 8-bit integers is told besides its
// operands.
#pragma once

#include <algorithm>

#include "hotaru/backend/common/matmul/int8.h"
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
/// With `packed`, w is what "pack_int8_conv" wrote, and w_zero undefined.
struct Int8ConvAttributes {
  Dims stride, padding, dilation, kernel;
  int64_t channels = 1;  // of a group
  int64_t groups = 1;
  bool packed = false;
};

/// Operands of "pack_int8_conv": write packed int32 [O * int8_conv_pairs], read
/// w, row-major, read w_zero: weights as the convolution reads them.
struct PackInt8ConvAttributes {
  Dims kernel;
  int64_t channels = 1;
};

/// Whether pairs are neighbours of the kernel's last dimension, else of the
/// channels: the one that needs fewer.
inline bool int8_pairs_along_kernel(int64_t channels, IntSpan kernel) {
  const int64_t last = kernel.back();
  return int8_pairs(last) * channels < int8_pairs(channels) * last;
}

/// Pairs of one output channel's weights.
inline int64_t int8_conv_pairs(int64_t channels, IntSpan kernel) {
  const int64_t last = kernel.back();
  return numel_of(kernel.first(kernel.size() - 1)) *
         std::min(int8_pairs(last) * channels, int8_pairs(channels) * last);
}

}  // namespace hotaru
