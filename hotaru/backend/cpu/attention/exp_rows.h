// Softmax without its division, which is left to what it is multiplied by.
// Chosen at run time by the processor.
#pragma once

#include <cstdint>

#include "hotaru/core/half.h"

namespace hotaru::cpu {

/// x = e^(x - largest of its row), in place, of rows of n, `stride` apart;
/// factors[r] = 1 / the sum of row r. Softmax is their product.
void exp_rows(float* x, int64_t stride, int64_t rows, int64_t n,
              float* factors);

/// The same of rows `step` apart, rounded to bfloat16 into rows `stride` apart,
/// whose numbers from n on become zeros. Sums are of what was not rounded.
void exp_rows(const float* x, int64_t step, BFloat16* y, int64_t stride,
              int64_t rows, int64_t n, float* factors);

/// Rows of n, `stride` apart, each times its factor.
void scale_rows(float* x, int64_t stride, int64_t rows, int64_t n,
                const float* factors);

}  // namespace hotaru::cpu
