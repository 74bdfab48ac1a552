// Extreme elements of columns that lie side by side.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// Extremes of rows of columns that lie side by side: for each of them the
/// greatest (least) element and the first row that has it; NaN before all.
struct ExtremeColumns {
  static constexpr int64_t kMost = 512;

  float best[kMost];
  int32_t row[kMost];  // as wide as the elements: vectors need no conversion

  /// Finds those of n >= 1 rows of `count` <= kMost elements, `stride` apart.
  void find(bool largest, const float* x, int64_t n, int64_t stride,
            int64_t count);
};

}  // namespace hotaru::cpu
