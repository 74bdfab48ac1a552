// Parameters of the kernels of average pooling and interpolation besides their
// operands. All of them are one operation: along each spatial dimension an
// output position is a weighted sum of a few input positions.
#pragma once

#include <array>

#include "hotaru/core/shape.h"

namespace hotaru {

enum class ResampleMode : uint8_t {
  /// Mean of the windows that kernel, stride and padding describe.
  kAverage,
  /// Mean of [floor(o in / out), ceil((o + 1) in / out)).
  kAdaptive,
  kNearest,
  kNearestExact,
  kLinear,
  kCubic,
  kLanczos,  // antialias only
};

/// Operands of "resample": write out, read x; of its transpose
/// "resample_transposed": write x, read out. Both are row-major; the last
/// `dims` dimensions are spatial, the ones before are independent planes.
struct ResampleAttributes {
  ResampleMode mode = ResampleMode::kAverage;
  int64_t dims = 2;
  // kAverage. Positions in the padding count as zeros if include_pad; a
  // divisor other than 0 replaces the number of positions.
  Dims kernel, stride, padding;
  bool include_pad = true;
  int64_t divisor = 0;
  // Interpolation. With align_corners the outermost positions coincide, else
  // the outermost edges. A scale of 0 means out / in.
  bool align_corners = false;
  // From kLinear on: where many inputs fall on one output, all of them are
  // weighed, by the filter stretched as the picture shrinks.
  bool antialias = false;
  std::array<double, 3> scales{};
};

}  // namespace hotaru
