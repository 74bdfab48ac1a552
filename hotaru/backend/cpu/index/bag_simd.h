// Sums of rows of a table with the widest vectors that this processor has.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// sum[i], i < width, becomes the sum of table[rows[p] * width + i], times
/// factors[p] if there are any, over p < count in order; rows that are `skip`
/// are left out. The table may be read at all of `rows`.
#define HOTARU_BAG(type) \
  void sum_rows(const type* table, int64_t width, const int64_t* rows, \
                int64_t count, int64_t skip, const type* factors, type* sum)
HOTARU_BAG(float);
HOTARU_BAG(double);
#undef HOTARU_BAG

}  // namespace hotaru::cpu
