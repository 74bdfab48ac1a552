// Cholesky's factors, column after column (G. Golub and C. Van Loan, Matrix
// computations, 4.2); see params/linalg.h.
#include "hotaru/backend/cuda/device/linalg/team.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
__device__ void cholesky(const LinalgParams& p) {
  const int n = p.m;
  const T* a = matrix_of<T>(p.in[0], n, n);
  T* l = matrix_of<T>(p.out[0], n, n);
  for_matrix(n, n, [&](int i, int j) {
    l[int64_t(i) * n + j] = j <= i ? a[int64_t(i) * n + j] : T(0);
  });
  int failed = 0;
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    const Real<T> diagonal = real_part(l[int64_t(k) * (n + 1)]);
    if (!(diagonal > 0)) {
      failed = k + 1;
      break;
    }
    const Real<T> root = std::sqrt(diagonal);
    __syncthreads();
    for_line(k, n, [&](int i) {
      T& x = l[int64_t(i) * n + k];
      x = i == k ? T(root) : quotient(x, T(root));
    });
    __syncthreads();
    for_matrix(n - k - 1, n - k - 1, [&](int i, int j) {
      if (j > i) return;
      const T* column = l + int64_t(k + 1) * n + k;
      l[int64_t(k + 1 + i) * n + k + 1 + j] -=
          product(column[int64_t(i) * n], conjugate(column[int64_t(j) * n]));
    });
  }
  if (threadIdx.x == 0) p.info[blockIdx.x] = failed;
}

}  // namespace

#define HOTARU_CHOLESKY(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(Cholesky_##suffix, LinalgParams, cholesky<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_CHOLESKY, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_CHOLESKY, )

}  // namespace hotaru::cuda
