// How floats become 8-bit integers with a scale and zero point of their own.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "hotaru/core/checks/check.h"

namespace hotaru {

/// Operands of "dynamic_quantize": write uint8 integers of x's shape, write
/// scale (one float32), write zero point (one uint8), read x (float32), all
/// row-major:
///   integer = saturate(round(x * (1 / scale) + zero point))   in float32
/// with the scale and zero point of x's least and greatest element and zero; a
/// NaN among x is an error. As ONNX's DynamicQuantizeLinear has it (`onnx`):
///   scale = (high - low) / 255, or 1 where that is 0
///   zero point = round(saturate(-low / scale))
///   integer = saturate(round(x / scale) + zero point)
/// in float32; with a NaN among x the scale is NaN and all integers 0.
struct DynamicQuantizeAttributes {
  bool reduce_range = true;  // 7 bits
  bool onnx = false;
};

struct QuantizationParameters {
  double scale;
  int64_t zero_point;
};

/// Scale and zero point with which [qmin, qmax] hold [low, high] and zero.
///
/// The formula of gemmlowp ("Building a quantization paradigm from first
/// principles"): zero is exact, and the zero point is taken from the end of
/// the range whose rounding loses less. With `reduce_range` half the integers
/// are used, so that products of two add up without saturating; `symmetric`
/// puts zero into the middle if there are numbers on both sides. Error where
/// low > high or either is NaN.
inline QuantizationParameters choose_qparams(double low, double high,
                                             int64_t qmin, int64_t qmax,
                                             bool reduce_range,
                                             bool symmetric) {
  if (reduce_range) qmin /= 2, qmax /= 2;
  const double least = double(qmin), most = double(qmax);
  const bool middle = symmetric && low < 0 && 0 < high;
  if (middle) {
    const double half = double((qmax - qmin) / 2);
    const double each = std::max(-low / (half + 1), high / half);
    low = -each * (half + 1), high = each * half;
  }
  low = 0.0 < low ? 0.0 : low, high = 0.0 > high ? 0.0 : high;
  HOTARU_CHECK(low <= high,
               "In ChooseQuantizationParams, min should be less than or equal "
               "to max: min: ",
               low, ", max: ", high);
  double scale = (high - low) / (most - least);
  // Its inverse would be infinite in float32.
  if (float(scale) < 1 / double(std::numeric_limits<float>::max())) scale = 0.1;
  // Scales below make it too large for products in float32.
  constexpr double kSmallest = double(6.1e-5f);
  if (scale < kSmallest) {
    const double before = scale;
    scale = kSmallest;
    if (low == 0)
      high = kSmallest * (most - least);
    else if (high == 0)
      low = -kSmallest * (most - least);
    else
      low *= kSmallest / before, high *= kSmallest / before;
  }
  const double low_error = std::abs(least) + std::abs(low / scale);
  const double high_error = std::abs(most) + std::abs(high / scale);
  double zero =
      low_error < high_error ? least - low / scale : most - high / scale;
  if (middle) zero = (least + most) / 2;
  return {scale, int64_t(std::nearbyint(std::clamp(zero, least, most)))};
}

}  // namespace hotaru
