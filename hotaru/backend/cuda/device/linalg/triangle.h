// Triangular systems of equations.
#pragma once

#include "hotaru/backend/cuda/device/linalg/team.h"

namespace hotaru::cuda {

/// X [m, n] becomes A^-1 X of the triangular A [m, m], elements of which are
/// a[i * row + j * column]; X's rows are ldx apart. A zero on the diagonal
/// divides. Begins and ends with a barrier.
template <class T>
__device__ void solve_triangle(bool upper, bool unit, int m, int n, const T* a,
                               int64_t row, int64_t column, T* x, int64_t ldx) {
  for (int step = 0; step < m; ++step) {
    const int r = upper ? m - 1 - step : step;
    __syncthreads();
    if (!unit) {
      const T pivot = a[r * (row + column)];
      for_line(0, n, [&](int j) {
        x[r * ldx + j] = quotient(x[r * ldx + j], pivot);
      });
      __syncthreads();
    }
    const int first = upper ? 0 : r + 1;
    for_matrix(m - 1 - step, n, [&](int i, int j) {
      i += first;
      x[i * ldx + j] -= product(a[i * row + r * column], x[r * ldx + j]);
    });
  }
  __syncthreads();
}

}  // namespace hotaru::cuda
