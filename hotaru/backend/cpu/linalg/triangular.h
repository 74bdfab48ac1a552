// Triangular systems of equations.
#pragma once

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {

/// Columns that threads have are multiples of so many.
inline constexpr int64_t kLine = 16;

/// Which part of a matrix is read: a triangle, and of its diagonal nothing if
/// it is of ones.
struct Triangle {
  bool upper = false, unit = false;
};

/// X [m, n] becomes A^-1 X; rows of the triangular A [m, m] are lda elements
/// apart, X's ldx. A zero on the diagonal divides.
template <class T>
void solve_triangular(Triangle triangle, int64_t m, int64_t n, const T* a,
                      int64_t lda, T* x, int64_t ldx);

}  // namespace hotaru::cpu
