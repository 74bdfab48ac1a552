// Rows of maximum pooling with the widest vectors that this processor has.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// One output row of n windows, `kernel` wide and `stride` apart, the first of
/// which begins `pad` before the row; nothing counts where a window reaches
/// beyond it. Each of the `rows` input rows has `width` elements; from one to
/// the next it is `pitch`. NaN beats everything. `room` holds all columns that
/// windows reach, and kPoolSlack elements more.
inline constexpr int64_t kPoolSlack = 64;
#define HOTARU_POOL(type) \
  void max_pool_row(const type* x, int64_t rows, int64_t pitch, int64_t width, \
                    int64_t kernel, int64_t stride, int64_t pad, type* room, \
                    type* out, int64_t n)
HOTARU_POOL(float);
HOTARU_POOL(double);
#undef HOTARU_POOL

}  // namespace hotaru::cpu
