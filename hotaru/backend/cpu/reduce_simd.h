// Reductions of contiguous floating numbers with the widest vectors that this
// processor has. T: float, double.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// Sum of n numbers in interleaved partial sums; callers add up blocks
/// pairwise, so n should stay within a few thousand.
float sum_block(const float* x, int64_t n);
double sum_block(const double* x, int64_t n);
float sum_squares_block(const float* x, int64_t n);
double sum_squares_block(const double* x, int64_t n);
/// Largest and smallest; NaN if any is NaN; the reduction's identity
/// (-infinity, infinity) for n = 0.
float max_block(const float* x, int64_t n);
double max_block(const double* x, int64_t n);
float min_block(const float* x, int64_t n);
double min_block(const double* x, int64_t n);

/// acc[j] += the sum of rows[i * stride + j] over i < count, for j < width.
void add_rows(float* acc, const float* rows, int64_t count, int64_t stride,
              int64_t width);
void add_rows(double* acc, const double* rows, int64_t count, int64_t stride,
              int64_t width);

}  // namespace hotaru::cpu
