// Least squares: by QR where the matrix has full rank beyond doubt, else by
// singular values; see params/linalg.h.
#include "hotaru/backend/cuda/device/linalg/jacobi.h"
#include "hotaru/backend/cuda/device/linalg/triangle.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// info of matrices that are left to by_singular_values().
constexpr int kDoubtful = 3;

/// Tells whether the least singular value of the upper triangular r [n, n],
/// rows ldr apart, is more than rcond times the greatest, by Frobenius' norms
/// of r and of its inverse, for which there is room.
template <class T>
__device__ bool has_full_rank(int n, const T* r, int64_t ldr, double rcond,
                              T* inverse) {
  bool singular = false;
  double all = 0;
  for_matrix(n, n, [&](int i, int j) {
    inverse[int64_t(i) * n + j] = T(i == j ? 1 : 0);
    if (j < i) return;
    const T x = r[i * ldr + j];
    if (i == j) singular |= x == T(0);
    all += double(square(x));
  });
  all = sum_block(all);
  if (__syncthreads_or(singular)) return false;
  solve_triangle(true, false, n, n, r, ldr, int64_t(1), inverse, int64_t(n));
  double of_inverse = 0;
  for_matrix(n, n, [&](int i, int j) {
    of_inverse += double(square(inverse[int64_t(i) * n + j]));
  });
  of_inverse = sum_block(of_inverse);
  return std::sqrt(all) * std::sqrt(of_inverse) * rcond < 1;
}

/// R x = Q^H b, of A and b side by side. False if the rank is in doubt.
template <class T>
__device__ bool by_columns(const LinalgParams& p, T* room) {
  const int m = p.m, n = p.n, k = p.k, all = n + k;
  T *const w = work_of<T>(p), *const taus = w + int64_t(m) * all;
  const T* const a = matrix_of<T>(p.in[0], m, n);
  const T* const b = matrix_of<T>(p.in[1], m, k);
  for_matrix(m, all, [&](int i, int j) {
    w[int64_t(i) * all + j] =
        j < n ? a[int64_t(i) * n + j] : b[int64_t(i) * k + j - n];
  });
  factor_qr(m, n, w, int64_t(all), int64_t(1), taus, room, k);
  if (!has_full_rank(n, w, int64_t(all), p.rcond, taus + n)) return false;
  solve_triangle(true, false, n, k, w, int64_t(all), int64_t(1), w + n,
                 int64_t(all));
  T* const x = matrix_of<T>(p.out[0], n, k);
  for_matrix(n, k, [&](int i, int j) {
    x[int64_t(i) * k + j] = w[int64_t(i) * all + n + j];
  });
  return true;
}

/// x = Q R^-H b, of A^H = Q R. False if the rank is in doubt.
template <class T>
__device__ bool by_rows(const LinalgParams& p, T* room) {
  const int m = p.m, n = p.n, k = p.k;
  T *const w = work_of<T>(p), *const taus = w + int64_t(m) * n;
  T* const lower = taus + m;
  const T* const a = matrix_of<T>(p.in[0], m, n);
  for_matrix(m, n, [&](int i, int j) {
    w[int64_t(j) * m + i] = conjugate(a[int64_t(i) * n + j]);
  });
  factor_qr(n, m, w, int64_t(m), int64_t(1), taus, room);
  if (!has_full_rank(m, w, int64_t(m), p.rcond, lower)) return false;
  __syncthreads();
  T* const x = matrix_of<T>(p.out[0], n, k);
  const T* const b = matrix_of<T>(p.in[1], m, k);
  for_matrix(m, m, [&](int i, int j) {
    lower[int64_t(i) * m + j] = conjugate(w[int64_t(j) * m + i]);
  });
  for_matrix(n, k, [&](int i, int j) {
    x[int64_t(i) * k + j] = i < m ? b[int64_t(i) * k + j] : T(0);
  });
  solve_triangle(false, false, m, k, lower, int64_t(m), int64_t(1), x,
                 int64_t(k));
  apply_reflectors(n, m, w, int64_t(m), int64_t(1), taus, k, x, int64_t(k),
                   int64_t(1), room);
  return true;
}

template <class T>
__device__ void by_qr(const LinalgParams& p) {
  HOTARU_REFLECT_ROOM(T, room);
  const bool done = p.m >= p.n ? by_columns<T>(p, room) : by_rows<T>(p, room);
  if (threadIdx.x != 0) return;
  p.info[blockIdx.x] = done ? 0 : kDoubtful;
  if (done) static_cast<int64_t*>(p.out[1])[blockIdx.x] = p.m < p.n ? p.m : p.n;
}

template <class T>
__device__ void by_singular_values(const LinalgParams& p) {
  using R = Real<T>;
  if (p.info[blockIdx.x] != kDoubtful) return;
  __syncthreads();
  const bool wide = p.m < p.n;
  const int m = wide ? p.n : p.m, n = wide ? p.m : p.n, k = p.k;
  T *const b = work_of<T>(p), *const v = b + int64_t(m) * n;
  T *const along = v + int64_t(n) * n, *const rest = along + int64_t(n) * k;
  R* const lengths = reinterpret_cast<R*>(rest);
  const Jacobi<T> jacobi{m, n, b, v, lengths};
  const R scale = solve_singular<T>(p, jacobi, jacobi, nullptr, nullptr);
  if (scale == 0) return;
  R largest = 0;
  for_line(0, n, [&](int j) {
    if (lengths[j] > largest) largest = lengths[j];
  });
  const R least = R(p.rcond) * largest_block(largest);
  int rank = 0;
  for_line(0, n, [&](int j) { rank += lengths[j] > least ? 1 : 0; });
  rank = sum_block(rank);
  if (threadIdx.x == 0) static_cast<int64_t*>(p.out[1])[blockIdx.x] = rank;
  // A is L S R^H.
  const T *const left = wide ? v : b, *const right = wide ? b : v;
  const T* const given = matrix_of<T>(p.in[1], p.m, k);
  for_matrix(n, k, [&](int j, int c) {
    T sum(0);
    for (int i = 0; i < p.m && lengths[j] > least; ++i)
      sum += product(conjugate(left[int64_t(j) * p.m + i]),
                     given[int64_t(i) * k + c]);
    along[int64_t(j) * k + c] =
        lengths[j] > least ? times(scale, quotient(sum, T(lengths[j]))) : T(0);
  });
  __syncthreads();
  T* const x = matrix_of<T>(p.out[0], p.n, k);
  for_matrix(p.n, k, [&](int i, int c) {
    T sum(0);
    for (int j = 0; j < n; ++j)
      sum += product(right[int64_t(j) * p.n + i], along[int64_t(j) * k + c]);
    x[int64_t(i) * k + c] = sum;
  });
}

}  // namespace

// Crowded by one block: else the compiler spills to make room for several.
#define HOTARU_LEAST_SQUARES(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(LeastSquares_##suffix, 1, LinalgParams, by_qr<T>) \
  HOTARU_CUDA_CROWDED_KERNEL(LeastSquares_##suffix##_2, 1, LinalgParams, \
                             by_singular_values<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_LEAST_SQUARES, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_LEAST_SQUARES, )

}  // namespace hotaru::cuda
