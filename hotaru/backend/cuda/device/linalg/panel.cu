// LU and Cholesky's factors of large matrices, panel by panel; see
// params/linalg.h.
#include "hotaru/backend/cuda/device/linalg/lu.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
__device__ T* factored(const PanelParams& p) {
  return reinterpret_cast<T*>(p.a + int64_t(blockIdx.x) * p.a_bytes);
}
__device__ inline int32_t* pivots_of(const PanelParams& p) {
  return reinterpret_cast<int32_t*>(p.pivots +
                                    int64_t(blockIdx.x) * p.pivot_bytes);
}

template <class T>
__device__ void start(const PanelParams& p) {
  const int first = int(blockIdx.y) * kPanel;
  const int rows = p.m - first < kPanel ? p.m - first : kPanel;
  const T* from = matrix_of<T>(p.from, p.m, p.n);
  T* const a = factored<T>(p);
  for_matrix(rows, p.n, [&](int i, int j) {
    const int64_t at = int64_t(first + i) * p.n + j;
    a[at] = p.lower && j > first + i ? T(0) : from[at];
  });
}

template <class T>
__device__ void lu_panel(const PanelParams& p) {
  const int zero = factor_lu(factored<T>(p) + int64_t(p.begin) * (p.n + 1),
                             p.m - p.begin, p.end - p.begin, int64_t(p.n),
                             pivots_of(p) + p.begin, p.pivot, p.begin);
  if (threadIdx.x != 0) return;
  int32_t& info = p.info[blockIdx.x];
  if (p.begin == 0 || info == 0) info = zero ? p.begin + zero : 0;
}

template <class T>
__device__ void lu_follow(const PanelParams& p) {
  const int first = int(blockIdx.y) * kPanel;
  const int width = p.n - first < kPanel ? p.n - first : kPanel;
  if (first == p.begin && p.end - p.begin == width) return;  // the panel itself
  T* const a = factored<T>(p);
  const int32_t* pivots = pivots_of(p);
  // A last panel of less columns has the others of its block beside it.
  const int from = first == p.begin ? p.end : first;
  const int count = first + width - from;
  for (int k = p.begin; k < p.end; ++k) {
    const int other = pivots[k] - 1;
    if (other == k) continue;
    for_line(0, count, [&](int j) {
      swap_values(a[int64_t(k) * p.n + from + j],
                  a[int64_t(other) * p.n + from + j]);
    });
    __syncthreads();
  }
  if (from < p.begin) return;
  for (int k = p.begin; k < p.end; ++k) {
    __syncthreads();
    const T* const row = a + int64_t(k) * p.n + from;
    for_matrix(p.end - k - 1, count, [&](int i, int j) {
      T* const to = a + int64_t(k + 1 + i) * p.n;
      to[from + j] -= product(to[k], row[j]);
    });
  }
}

/// C [m - end, n - end] -= L U, L the panel below its square, U what stands
/// right of that, or L^H. A block has a square of C.
template <class T, bool kAdjoint>
__device__ void update(const PanelParams& p) {
  __shared__ double memory[2 * kPanel * kPanel * sizeof(T) / sizeof(double)];
  T *const left = reinterpret_cast<T*>(memory), *right = left + kPanel * kPanel;
  const int row = p.end + int(blockIdx.z) * kPanel;
  const int column = p.end + int(blockIdx.y) * kPanel;
  if (kAdjoint && column > row) return;  // above the diagonal
  T* const a = factored<T>(p);
  const int depth = p.end - p.begin;
  const int rows = p.m - row < kPanel ? p.m - row : kPanel;
  const int columns = p.n - column < kPanel ? p.n - column : kPanel;
  for_matrix(rows, depth, [&](int i, int k) {
    left[i * kPanel + k] = a[int64_t(row + i) * p.n + p.begin + k];
  });
  if (kAdjoint)
    for_matrix(columns, depth, [&](int j, int k) {
      right[k * kPanel + j] =
          conjugate(a[int64_t(column + j) * p.n + p.begin + k]);
    });
  else
    for_matrix(depth, columns, [&](int k, int j) {
      right[k * kPanel + j] = a[int64_t(p.begin + k) * p.n + column + j];
    });
  __syncthreads();
  for_matrix(rows, columns, [&](int i, int j) {
    if (kAdjoint && column + j > row + i) return;
    T sum(0);
    for (int k = 0; k < depth; ++k)
      sum += product(left[i * kPanel + k], right[k * kPanel + j]);
    a[int64_t(row + i) * p.n + column + j] -= sum;
  });
}

/// Columns [begin, end) of L. What failed before is left alone.
template <class T>
__device__ void cholesky_panel(const PanelParams& p) {
  const int failed = p.begin > 0 ? p.info[blockIdx.x] : 0;
  if (failed) return;
  T* const a = factored<T>(p);
  int zero = 0;
  for (int k = p.begin; k < p.end; ++k) {
    __syncthreads();
    const Real<T> diagonal = real_part(a[int64_t(k) * (p.n + 1)]);
    if (!(diagonal > 0)) {
      zero = k + 1;
      break;
    }
    const Real<T> root = std::sqrt(diagonal);
    __syncthreads();
    for_line(k, p.m, [&](int i) {
      T& x = a[int64_t(i) * p.n + k];
      x = i == k ? T(root) : quotient(x, T(root));
    });
    __syncthreads();
    for_matrix(p.m - k - 1, p.end - k - 1, [&](int i, int j) {
      if (j > i) return;
      const T* const column = a + int64_t(k + 1) * p.n + k;
      a[int64_t(k + 1 + i) * p.n + k + 1 + j] -= product(
          column[int64_t(i) * p.n], conjugate(column[int64_t(j) * p.n]));
    });
  }
  __syncthreads();
  if (threadIdx.x == 0) p.info[blockIdx.x] = zero;
}

}  // namespace

// Crowded by one block: else the compiler spills to make room for several.
#define HOTARU_PANEL(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(PanelStart_##suffix, PanelParams, start<T>) \
  HOTARU_CUDA_CROWDED_KERNEL(LuPanel_##suffix, 1, PanelParams, lu_panel<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(LuFollow_##suffix, PanelParams, lu_follow<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(LuUpdate_##suffix, PanelParams, update<T, false>) \
  HOTARU_CUDA_CROWDED_KERNEL(CholeskyPanel_##suffix, 1, PanelParams, \
                             cholesky_panel<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(CholeskyUpdate_##suffix, PanelParams, \
                           update<T, true>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_PANEL, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_PANEL, )

}  // namespace hotaru::cuda
