// Parameters of the kernel of convolutions of 8-bit integers besides its
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

/// Operands of "pack_int8_conv": write packed int32 [O * int8_conv_words], read
/// w, row-major, read w_zero: weights as the convolution reads them.
struct PackInt8ConvAttributes {
  Dims kernel;
  int64_t channels = 1;
};

/// True if the `lanes` elements of a word, two or four, are neighbours of the
/// kernel's last dimension, else of the channels: whichever needs fewer words.
inline bool int8_lanes_along_kernel(int64_t channels, IntSpan kernel,
                                    int64_t lanes) {
  const int64_t last = kernel.back();
  const auto words = [&](int64_t n) { return (n + lanes - 1) / lanes; };
  return words(last) * channels < words(channels) * last;
}

/// Words of one output channel's weights at most: of pairs, or of quads and
/// two numbers.
inline int64_t int8_conv_words(int64_t channels, IntSpan kernel) {
  const int64_t last = kernel.back();
  const auto least = [&](int64_t lanes) {
    const auto words = [&](int64_t n) { return (n + lanes - 1) / lanes; };
    return numel_of(kernel.first(kernel.size() - 1)) *
           std::min(words(last) * channels, words(channels) * last);
  };
  return std::max(least(2), least(4) + 2);
}

}  // namespace hotaru
