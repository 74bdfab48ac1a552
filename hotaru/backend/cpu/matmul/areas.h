// How a matrix product is divided over threads.
#pragma once

#include <algorithm>

#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {

/// Multiply-adds that pay for one more thread.
inline constexpr int64_t kProductsPerThread = 1 << 18;

/// Columns [begin, end) of rows [row_begin, row_end) of C.
struct Area {
  int64_t row_begin, row_end, col_begin, col_end;
};

/// Calls f(area) for a grid of areas that covers m x n, in parallel if the
/// work pays for it. Areas start at multiples of the unit sizes.
template <class F>
void for_areas(int64_t m, int64_t n, int64_t k, int64_t row_unit,
               int64_t col_unit, const F& f) {
  // Loading B takes as long as the products of a single row.
  const double work = double(std::max<int64_t>(m, 2)) * double(n) * double(k) /
                      kProductsPerThread;
  const int64_t most = in_parallel_region() ? 1 : get_num_threads();
  const int64_t threads = work < double(most) ? int64_t(work) : most;
  if (threads <= 1) return f(Area{0, m, 0, n});
  const int64_t row_units = detail::divide_up(m, row_unit);
  const int64_t col_units = detail::divide_up(n, col_unit);
  // Many columns are cut first, as each thread then packs a part of B alone;
  // else the longer side, and the other one if threads are left.
  const bool rows_first = col_units < 2 * threads && m >= n;
  const int64_t first = std::min(threads, rows_first ? row_units : col_units);
  const int64_t second =
      std::min(threads / first, rows_first ? col_units : row_units);
  const int64_t row_parts = rows_first ? first : second;
  const int64_t col_parts = rows_first ? second : first;
  const auto cut = [](int64_t part, int64_t parts, int64_t units, int64_t unit,
                      int64_t size) {
    return std::min(size, part * units / parts * unit);
  };
  parallel_for(0, row_parts * col_parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t r = i / col_parts, q = i % col_parts;
      f(Area{cut(r, row_parts, row_units, row_unit, m),
             cut(r + 1, row_parts, row_units, row_unit, m),
             cut(q, col_parts, col_units, col_unit, n),
             cut(q + 1, col_parts, col_units, col_unit, n)});
    }
  });
}

/// Calls f(i) for products i in [0, batch), of so many multiply-adds each: side
/// by side, or one after the other where each is divided inside.
template <class F>
void for_batch(int64_t batch, int64_t products, const F& f) {
  const int64_t work = std::max<int64_t>(1, products);
  if (batch < get_num_threads() && work > 4 * kProductsPerThread) {
    for (int64_t i = 0; i < batch; ++i) f(i);
    return;
  }
  parallel_for(0, batch, std::max<int64_t>(1, kProductsPerThread / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) f(i);
               });
}

}  // namespace hotaru
