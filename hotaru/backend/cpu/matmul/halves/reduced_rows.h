// Few rows times a matrix of 16-bit floats, such as the values of an attention
// for one token: B is read once, in order, and never packed.
#pragma once

#include <cstdint>

#include "hotaru/core/half.h"

namespace hotaru::cpu {

/// Rows of A at a time.
inline constexpr int64_t kReducedRows = 3;

/// c[i, j] = sum over p of a[i, p] * b[p, j] in float, for m <= kReducedRows
/// rows that are lda and ldc apart and n columns of b, whose rows are
/// contiguous and ldb apart. T: Half, BFloat16.
template <class T>
void reduced_rows(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                  const T* b, int64_t ldb, float* c, int64_t ldc);

/// The same where columns of b are contiguous, ldb apart, and rows of a.
template <class T>
void reduced_dots(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                  const T* b, int64_t ldb, float* c, int64_t ldc);

}  // namespace hotaru::cpu
