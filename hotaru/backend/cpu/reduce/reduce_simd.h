// Reductions of contiguous floating numbers with the widest vectors that this
// processor has. Each function exists for float and double.
#pragma once

#include <complex>
#include <cstdint>

namespace hotaru::cpu {

#define HOTARU_VECTOR_REDUCTIONS(type) \
  /* Sum of n numbers in interleaved partial sums; callers add up blocks */ \
  /* pairwise, so n should stay within a few thousand. */ \
  type sum_block(const type* x, int64_t n); \
  type sum_squares_block(const type* x, int64_t n); \
  type nan_sum_block(const type* x, int64_t n); /* NaN counts as zero */ \
  type product_block(const type* x, int64_t n); \
  /* Largest and smallest; NaN if any is NaN; -infinity (infinity) for none. \
   */ \
  type max_block(const type* x, int64_t n); \
  type min_block(const type* x, int64_t n); \
  /* acc[j] joined with rows[i * stride + j], or its square, of all i < count, \
   * for j < width. */ \
  void add_rows(type* acc, const type* rows, int64_t count, int64_t stride, \
                int64_t width); \
  void add_square_rows(type* acc, const type* rows, int64_t count, \
                       int64_t stride, int64_t width); \
  void max_rows(type* acc, const type* rows, int64_t count, int64_t stride, \
                int64_t width); \
  void min_rows(type* acc, const type* rows, int64_t count, int64_t stride, \
                int64_t width)
HOTARU_VECTOR_REDUCTIONS(float);
HOTARU_VECTOR_REDUCTIONS(double);
#undef HOTARU_VECTOR_REDUCTIONS

/// Wraps around.
int64_t sum_block(const int64_t* x, int64_t n);
std::complex<float> sum_block(const std::complex<float>* x, int64_t n);

}  // namespace hotaru::cpu
