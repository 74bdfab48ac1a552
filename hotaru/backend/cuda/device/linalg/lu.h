// LU with partial pivoting (G. Golub and C. Van Loan, Matrix
// computations, 3.4).
#pragma once

#include "hotaru/backend/cuda/device/linalg/team.h"

namespace hotaru::cuda {

/// a [m, n], rows ld apart, becomes L, whose diagonal is of ones, and U; pivots
/// name rows by 1 + `first` + index. Returns 1 + index of the first zero pivot,
/// or 0. Begins and ends with a barrier.
template <class T>
__device__ int factor_lu(T* a, int m, int n, int64_t ld, int32_t* pivots,
                         bool exchange, int first = 0) {
  int singular = 0;
  const int steps = m < n ? m : n;
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    const int pivot = exchange ? find_largest(a + k, ld, k, m).index : k;
    if (threadIdx.x == 0) pivots[k] = first + pivot + 1;
    T* const row = a + k * ld;
    if (pivot != k)
      for_line(0, n, [&](int j) { swap_values(row[j], a[pivot * ld + j]); });
    __syncthreads();
    const T divisor = row[k];
    if (divisor == T(0)) {
      if (!singular) singular = k + 1;
      continue;
    }
    for_line(k + 1, m, [&](int i) {
      T& x = a[i * ld + k];
      x = quotient(x, divisor);
    });
    __syncthreads();
    for_matrix(m - k - 1, n - k - 1, [&](int i, int j) {
      T* const to = a + (k + 1 + i) * ld;
      to[k + 1 + j] -= product(to[k], row[k + 1 + j]);
    });
  }
  __syncthreads();
  return singular;
}

}  // namespace hotaru::cuda
