// Parameters of the kernels of convolution besides their operands.
#pragma once

#include "hotaru/core/shape.h"

namespace hotaru {

/// One entry a spatial dimension, of which there are one to three. For output
/// position o, kernel position k and input position i,
///   i = o * stride - padding + k * dilation.
/// Three kernels share it; each computes one of x [N, C, ...],
/// w [O, C / groups, ...] and y [N, O, ...] from the other two. All operands
/// are row-major, or, where Backend::convolves_channels_last() says so, all of
/// them have their channels last; the written one is overwritten:
///   "conv_forward"  write y, read x, read w, read bias [O] or undefined
///   "conv_data"     write x, read y, read w, read bias [C] or undefined
///   "conv_weight"   write w, read y, read x
struct ConvAttributes {
  Dims stride, padding, dilation;
  int64_t groups = 1;
  /// Set if elements of float32 x and w may be rounded to bfloat16; sums are in
  /// float32. Nobody has to.
  bool bf16 = false;
};

/// A convolution of float or double and what followed it, made by graphs.
/// Operands of "conv_fused": write y, read x, read w, read bias, then read
/// mean, variance, weight and bias [O] of a batch norm in evaluation (the first
/// undefined: none), read residual like y (undefined: none):
///   y = relu(norm(conv(x, w) + bias) + residual)
struct ConvFusedAttributes {
  ConvAttributes conv;
  double eps = 0;
  bool relu = false;
};

/// Two spatial dimensions. Operands of "im2col": write columns
/// [N, C kh kw, L], read x [N, C, H, W]; of its transpose "col2im", which adds
/// up: write x, read columns. L is the number of output positions.
struct UnfoldAttributes {
  Dims kernel, output;
  ConvAttributes window;
};

}  // namespace hotaru
