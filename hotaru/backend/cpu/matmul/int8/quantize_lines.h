// The SIMD parts of making 8-bit integers of floats, chosen at run time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hotaru::cpu {

/// The least and greatest of some numbers and zero; NaN among them stays.
struct Extent {
  float low = 0, high = 0;
};

inline Extent merged(Extent a, Extent b) {
  if (std::isnan(a.low)) return a;
  if (std::isnan(b.low)) return b;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

struct QuantizeLines {
  /// Extent of n numbers; NaN as both where there is one.
  Extent (*extent)(const float* x, int64_t n);
  /// to[i] = saturate(round(x[i] * inverse + zero)), ties to even.
  void (*quantize)(const float* x, int64_t n, float inverse, float zero,
                   uint8_t* to);
  /// to[i] = saturate(round(x[i] / scale) + zero), ties to even.
  void (*divide)(const float* x, int64_t n, float scale, float zero,
                 uint8_t* to);
};

const QuantizeLines& quantize_lines();

}  // namespace hotaru::cpu
