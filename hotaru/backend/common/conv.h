// What the kernels of convolution are told besides their operands.
#pragma once

#include "hotaru/core/shape.h"

namespace hotaru {

/// One entry a spatial dimension, of which there are one to three. For output
/// position o, kernel position k and input position i,
///   i = o * stride - padding + k * dilation.
/// Three kernels share it; each computes one of x [N, C, ...],
/// w [O, C / groups, ...] and y [N, O, ...] from the other two. All operands
/// are row-major and the written one is overwritten:
///   "conv_forward"  write y, read x, read w, read bias [O] or undefined
///   "conv_data"     write x, read y, read w, read bias [C] or undefined
///   "conv_weight"   write w, read y, read x
struct ConvAttributes {
  Dims stride, padding, dilation;
  int64_t groups = 1;
};

}  // namespace hotaru
