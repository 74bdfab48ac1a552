// LU with partial pivoting (G. Golub and C. Van Loan, Matrix computations, 3.4)
// and what follows from it; see params/linalg.h.
#include "hotaru/backend/common/complex_math.h"
#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/device/linalg/lu.h"
#include "hotaru/backend/cuda/device/linalg/triangle.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// Rows 0 to m - 1 after the exchanges. Bad pivots exchange nothing; returns
/// the first one's place + 1, or 0.
template <class I>
__device__ int permute(const int32_t* pivots, int k, I* rows, int m) {
  for_line(0, m, [&](int i) { rows[i] = I(i); });
  __syncthreads();
  int bad = 0;
  for (int i = 0; i < k && threadIdx.x == 0; ++i) {
    const int other = pivots[i] - 1;
    if (other >= 0 && other < m)
      swap_values(rows[i], rows[other]);
    else if (!bad)
      bad = i + 1;
  }
  return bad;
}

template <class T>
__device__ void lu_factor(const LinalgParams& p) {
  T* lu = matrix_of<T>(p.out[0], p.m, p.n);
  copy_line(int64_t(p.m) * p.n, matrix_of<T>(p.in[0], p.m, p.n), lu);
  const int zero = factor_lu(lu, p.m, p.n, int64_t(p.n),
                             matrix_of<int32_t>(p.out[1], p.k, 1), p.pivot);
  if (threadIdx.x == 0) p.info[blockIdx.x] = zero;
}

/// The factors to the workspace, rows [m] behind them.
template <class T>
__device__ void lu_solve_factor(const LinalgParams& p) {
  const int64_t bytes = int64_t(p.m) * p.m * int64_t(sizeof(T));
  T* lu = work_of<T>(p);
  int32_t *rows = work_of<int32_t>(p, bytes), *pivots = rows + p.m;
  if (!p.factored) {
    copy_line(int64_t(p.m) * p.m, matrix_of<T>(p.in[0], p.m, p.m), lu);
    const int zero = factor_lu(lu, p.m, p.m, int64_t(p.m), pivots, true);
    if (threadIdx.x == 0) p.info[blockIdx.x] = zero;
  }
  permute(pivots, p.m, rows, p.m);
}

template <class T>
__device__ void lu_solve(const LinalgParams& p) {
  const T* lu = work_of<T>(p);
  const int32_t* rows =
      work_of<int32_t>(p, int64_t(p.m) * p.m * int64_t(sizeof(T)));
  for_solved_columns(p.n, [&](int first, int n) {
    T* x = matrix_of<T>(p.out[0], p.m, p.n) + first;
    const T* b = matrix_of<T>(p.in[1], p.m, p.n) + first;
    for_matrix(p.m, n, [&](int i, int j) {
      x[int64_t(i) * p.n + j] = b[int64_t(rows[i]) * p.n + j];
    });
    solve_triangle(false, true, p.m, n, lu, p.m, 1, x, p.n);
    solve_triangle(true, false, p.m, n, lu, p.m, 1, x, p.n);
  });
}

template <class T>
__device__ void determinant(const LinalgParams& p) {
  const int n = p.m;
  T* lu = work_of<T>(p);
  int32_t* pivots = work_of<int32_t>(p, int64_t(n) * n * int64_t(sizeof(T)));
  if (!p.factored) {
    copy_line(int64_t(n) * n, matrix_of<T>(p.in[0], n, n), lu);
    factor_lu(lu, n, n, int64_t(n), pivots, true);
  }
  if (threadIdx.x != 0) return;
  bool odd = false;
  for (int k = 0; k < n; ++k) odd ^= pivots[k] != k + 1;
  T all = odd ? T(-1) : T(1), direction = all;
  Real<T> size = 0;
  for (int k = 0; k < n; ++k) {
    const T pivot = lu[int64_t(k) * (n + 1)];
    const Real<T> length = modulus(pivot);
    all = product(all, pivot);
    direction =
        length == 0 ? T(0) : product(direction, quotient(pivot, T(length)));
    size += std::log(length);
  }
  static_cast<T*>(p.out[0])[blockIdx.x] = all;
  static_cast<T*>(p.out[1])[blockIdx.x] = direction;
  static_cast<Real<T>*>(p.out[2])[blockIdx.x] = size;
}

/// info: 1 if the first bad pivot is too small, 2 if it is too large.
__device__ void permutation(const LinalgParams& p) {
  const int32_t* pivots = matrix_of<int32_t>(p.in[0], p.k, 1);
  const int bad =
      permute(pivots, p.k, matrix_of<int64_t>(p.out[0], p.m, 1), p.m);
  if (threadIdx.x == 0)
    p.info[blockIdx.x] = bad == 0 ? 0 : pivots[bad - 1] < 1 ? 1 : 2;
}

/// Reports the first matrix whose info is not 0, and that.
__device__ void check(const LinalgCheckParams& p) {
  int64_t first = p.count;
  for (int64_t i = threadIdx.x; i < p.count && first == p.count;
       i += blockDim.x)
    if (p.info[i] != 0) first = i;
  first = -largest_block(-first);
  if (threadIdx.x == 0 && first < p.count)
    report_error(p.errors, 0, first, p.info[first]);
}

}  // namespace

// Crowded by one block: else the compiler spills to make room for several.
#define HOTARU_LU(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(Lu_##suffix, 1, LinalgParams, lu_factor<T>) \
  HOTARU_CUDA_CROWDED_KERNEL(LuSolve_##suffix, 1, LinalgParams, \
                             lu_solve_factor<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(LuSolve_##suffix##_2, LinalgParams, lu_solve<T>) \
  HOTARU_CUDA_CROWDED_KERNEL(Determinant_##suffix, 1, LinalgParams, \
                             determinant<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_LU, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_LU, )
        HOTARU_CUDA_BLOCK_KERNEL(LuPermutation, LinalgParams, permutation)
            HOTARU_CUDA_BLOCK_KERNEL(LinalgCheck, LinalgCheckParams, check)

}  // namespace hotaru::cuda
