// Householder's reflections H = I - tau v v^H, v's first element 1 (G. Golub
// and C. Van Loan, Matrix computations, 5.1).
#pragma once

#include <limits>

#include "hotaru/backend/cuda/device/linalg/team.h"

namespace hotaru::cuda {

template <class R>
inline constexpr R kTiny =
    std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();

/// |x|, of elements whose squares may be out of range.
template <class T>
__device__ Real<T> length_of(int count, const T* x, int64_t stride) {
  using R = Real<T>;
  R sum = 0;
  for_line(0, count, [&](int i) { sum += square(x[i * stride]); });
  sum = sum_block(sum);
  if (sum > kTiny<R> && sum <= std::numeric_limits<R>::max())
    return std::sqrt(sum);
  R largest = 0;
  for_line(0, count, [&](int i) {
    const R size = modulus(x[i * stride]);
    if (size > largest) largest = size;
  });
  largest = largest_block(largest);
  if (largest == 0 || !(largest <= std::numeric_limits<R>::max()))
    return sum == 0 ? R(0) : std::sqrt(sum);
  sum = 0;
  for_line(0, count, [&](int i) {
    const R ratio = modulus(x[i * stride]) / largest;
    sum += ratio * ratio;
  });
  return largest * std::sqrt(sum_block(sum));
}

/// The reflection for which H^H x = beta e_1, beta real: x[0] becomes beta, the
/// other count - 1 elements v's. Returns tau, 0 if x is that already. Signs are
/// LAPACK's. Begins and ends with a barrier.
template <class T>
__device__ T make_reflector(int count, T* x, int64_t stride) {
  using R = Real<T>;
  __syncthreads();
  R below = length_of(count - 1, x + stride, stride);
  T alpha = x[0];
  if (below == 0 && imag_part(alpha) == 0) return T(0);
  R size = ::hypot(modulus(alpha), below), up = 1;
  if (size < kTiny<R>) {  // whose reciprocal would be infinite
    up = 1 / kTiny<R>;
    __syncthreads();
    for_line(0, count,
             [&](int i) { x[i * stride] = times(up, x[i * stride]); });
    __syncthreads();
    below = length_of(count - 1, x + stride, stride);
    alpha = x[0];
    size = ::hypot(modulus(alpha), below);
  }
  const R beta = std::signbit(real_part(alpha)) ? size : -size;
  const T scale = quotient(T(1), alpha - T(beta));
  __syncthreads();
  for_line(0, count, [&](int i) {
    T& to = x[i * stride];
    to = i == 0 ? T(beta / up) : product(to, scale);
  });
  __syncthreads();
  return quotient(T(beta) - alpha, T(beta));
}

/// C [rows, columns], elements c[i * row + j * column], becomes C - tau v v^H
/// C. kTurned: conj(v) takes v's place, so that of C's transpose it is C that
/// is multiplied from the right. `room`: kBlock elements of shared memory. What
/// was written before must be behind a barrier; ends with one.
template <bool kTurned = false, class T>
__device__ void reflect(int rows, int columns, const T* v, int64_t stride,
                        T tau, T* c, int64_t row, int64_t column, T* room) {
  if (tau == T(0)) return;
  const int lanes = columns > 16 ? 32 : columns > 8 ? 16 : 8;
  const int lane = int(threadIdx.x) & (lanes - 1);
  const int first = int(threadIdx.x) / lanes, step = int(blockDim.x) / lanes;
  for (int begin = 0; begin < columns; begin += lanes) {
    const bool inside = begin + lane < columns;
    T* const at = c + (begin + lane) * column;
    T sum(0);
    for (int i = first; i < rows && inside; i += step)
      sum += i == 0
                 ? at[0]
                 : product(kTurned ? v[i * stride] : conjugate(v[i * stride]),
                           at[i * row]);
    room[threadIdx.x] = sum;
    __syncthreads();
    sum = room[lane];
    for (int w = 1; w < step; ++w) sum += room[w * lanes + lane];
    sum = product(sum, tau);
    for (int i = first; i < rows && inside; i += step)
      at[i * row] -=
          i == 0 ? sum
                 : product(kTurned ? conjugate(v[i * stride]) : v[i * stride],
                           sum);
    __syncthreads();
  }
}

/// Shared memory for reflect().
#define HOTARU_REFLECT_ROOM(T, room) \
  __shared__ double room##_memory[kBlock * sizeof(T) / sizeof(double)]; \
  T* const room = reinterpret_cast<T*>(room##_memory)

/// A [m, n], elements a[i * row + j * column], becomes R of A = QR, and below
/// its diagonal the v of min(m, n) reflections whose product is Q. The `more`
/// columns right of them are multiplied by Q^H.
template <class T>
__device__ void factor_qr(int m, int n, T* a, int64_t row, int64_t column,
                          T* taus, T* room, int more = 0) {
  for (int c = 0; c < m && c < n; ++c) {
    T* const x = a + c * (row + column);
    const T tau = make_reflector(m - c, x, row);
    if (threadIdx.x == 0) taus[c] = tau;
    reflect(m - c, n + more - c - 1, x, row, conjugate(tau), x + column, row,
            column, room);
  }
  __syncthreads();
}

/// C [rows, columns] becomes H_0 H_1 ... C of `count` reflections, whose v are
/// below the diagonal of `v`. `from_diagonal`: C is zero left of the diagonal
/// but for ones on it, or not begun with.
template <class T>
__device__ void apply_reflectors(int rows, int count, const T* v, int64_t row,
                                 int64_t column, const T* taus, int columns,
                                 T* c, int64_t c_row, int64_t c_column, T* room,
                                 bool from_diagonal = false) {
  __syncthreads();
  for (int k = count - 1; k >= 0; --k) {
    const int from = from_diagonal ? k : 0;
    reflect(rows - k, columns - from, v + k * (row + column), row, taus[k],
            c + k * c_row + from * c_column, c_row, c_column, room);
  }
}

/// The largest part of the elements that a block's threads look at; NaN if one
/// is not finite.
template <class R>
struct LargestPart {
  R largest = 0, rest = 0;  // rest: x - x, which is 0 of finite numbers only

  template <class T>
  __device__ void look(T x) {
    const R re = std::abs(real_part(x)), im = std::abs(imag_part(x));
    if (re > largest) largest = re;
    if (im > largest) largest = im;
    rest += re - re;
    rest += im - im;
  }
  __device__ R of_block() const {
    const R found = largest_block(largest);
    return __syncthreads_or(!(rest == 0)) ? R(NAN) : found;
  }
};

/// The power of two that takes `largest` to about 1.
template <class R>
__device__ inline R unit_scale(R largest) {
  if (largest == 0) return 1;
  int exponent = 0;
  ::frexp(largest, &exponent);
  constexpr int kMost = std::numeric_limits<R>::max_exponent - 2;
  exponent = exponent > kMost ? kMost : exponent < -kMost ? -kMost : exponent;
  return ::ldexp(R(1), -exponent);
}
/// The same, or 1 where squares are in range as they are.
template <class R>
__device__ inline R safe_scale(R largest) {
  // Sums of squares lose nothing above, and do not overflow below.
  constexpr R kLeast = sizeof(R) == 4 ? R(0x1p-40) : R(0x1p-459);
  return largest >= kLeast && largest <= 1 / kLeast ? R(1)
                                                    : unit_scale(largest);
}

/// The first `columns` columns of the product of `count` reflections.
template <class T>
__device__ void first_columns(int rows, int count, const T* v, int64_t row,
                              const T* taus, int columns, T* q, T* room) {
  for_matrix(rows, columns, [&](int i, int j) {
    q[int64_t(i) * columns + j] = T(i == j ? 1 : 0);
  });
  apply_reflectors(rows, count, v, row, int64_t(1), taus, columns, q,
                   int64_t(columns), int64_t(1), room, true);
}

}  // namespace hotaru::cuda
