// Normalised rows with the widest vectors that this processor has. Exists for
// float and double.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// One contiguous row: y = (x - mean) * rstd * weight + bias, where each of the
/// last two, which may be null, has a number for `inner` elements; and its mean
/// and rstd, which is 1 / sqrt(variance + eps).
#define HOTARU_NORM(type) \
  void norm_row(const type* x, type* y, int64_t n, const type* weight, \
                const type* bias, int64_t inner, type eps, type* mean, \
                type* rstd)
HOTARU_NORM(float);
HOTARU_NORM(double);
#undef HOTARU_NORM

}  // namespace hotaru::cpu
