// Parameters of the kernels of maximum pooling besides their operands.
#pragma once

#include "hotaru/core/shape.h"

namespace hotaru {

/// Operands of "max_pool": write out, write indices (int64, or undefined),
/// read x, all row-major; the last `dims` dimensions are spatial. The index of
/// a maximum is its position in its plane; the first of equals, except that
/// NaN beats everything and the last NaN wins.
struct MaxPoolAttributes {
  int64_t dims = 2;
  Dims kernel, stride, padding, dilation;
  /// Windows are [floor(o in / out), ceil((o + 1) in / out)) instead.
  bool adaptive = false;
};

/// Operands of "plane_gather": write out, read x, read index; of its transpose
/// "plane_scatter", which adds up, and of "plane_place", which overwrites:
/// write x, read out, read index. The last `dims` dimensions of each make up a
/// plane; out has index's shape.
struct PlaneAttributes {
  int64_t dims = 2;
  /// Set if index is what "max_pool" wrote, over these windows: a kernel may
  /// then have each element of x look for the windows that chose it.
  bool pooled = false;
  MaxPoolAttributes windows = {};
};

/// Operands of "fractional_max_pool": write out, write indices, read x, read
/// samples [N, C, dims] of x's dtype, all row-major; the last `dims` dimensions
/// are spatial. Indices as those of "max_pool".
struct FractionalPoolAttributes {
  int64_t dims = 2;
  Dims kernel;
};

}  // namespace hotaru
