// Sums that distances are made of, with the widest vectors that this processor
// has.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// For each of the `rows` rows of y [rows, n], the sum of |x_i - y_i|, or of
/// (x_i - y_i)^2.
#define HOTARU_SUMS(type) \
  void sum_differences(bool squares, const type* x, const type* y, \
                       int64_t rows, int64_t n, type* out)
HOTARU_SUMS(float);
HOTARU_SUMS(double);
#undef HOTARU_SUMS

}  // namespace hotaru::cpu
