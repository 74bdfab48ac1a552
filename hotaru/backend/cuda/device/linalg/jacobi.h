// Singular values and vectors by rotations of pairs of columns until all are
// orthogonal (M. Hestenes, "Inversion of matrices by biorthogonalization and
// related results", 1958), many pairs at the same time: a warp has one.
#pragma once

#include "hotaru/backend/cuda/device/linalg/reflector.h"

namespace hotaru::cuda {

/// The problem of B = U S V^H, of m rows and n <= m columns. Columns lie one
/// after the other: those of B, which become U S, then those of V.
template <class T>
struct Jacobi {
  using R = Real<T>;
  /// Sweeps over all pairs; about ten are usual.
  static constexpr int kMostSweeps = 60;

  int m, n;
  T *b, *v;   // v may be null
  R* values;  // [n]

  /// Reads a [rows, columns], or if it is wide its adjoint, its numbers scaled
  /// to about 1; returns that scale, 0 if one is not finite.
  __device__ R read(const T* a, bool wide) const {
    LargestPart<R> part;
    for_matrix(wide ? n : m, wide ? m : n, [&](int i, int j) {
      part.look(a[int64_t(i) * (wide ? m : n) + j]);
    });
    const R largest = part.of_block();
    if (!(largest <= std::numeric_limits<R>::max())) return 0;
    const R scale = unit_scale(largest);
    for_matrix(n, m, [&](int j, int i) {
      const T x =
          wide ? conjugate(a[int64_t(j) * m + i]) : a[int64_t(i) * n + j];
      b[int64_t(j) * m + i] = times(scale, x);
    });
    return scale;
  }

  /// Where a warp's pair stands in a round of a tournament, in which each of
  /// `players` columns, an even number, meets each other once.
  __device__ static void pair_of(int round, int i, int players, int& x,
                                 int& y) {
    const int around = players - 1;
    x = i == 0 ? around : (round + i) % around;
    y = (round + around - i) % around;
    if (x > y) swap_values(x, y);
  }

  template <class A>
  __device__ static A sum_warp(A value) {
    for (uint32_t by = kWarp / 2; by > 0; by /= 2)
      value = value + shuffle_xor(value, by);
    return value;
  }

  /// Makes columns x and y orthogonal, unless they are. All threads of a warp.
  __device__ bool turn(int x, int y) const {
    const int lane = int(threadIdx.x % kWarp);
    T *const p = b + int64_t(x) * m, *const q = b + int64_t(y) * m;
    R of_p = 0, of_q = 0;
    T both(0);
    for (int i = lane; i < m; i += int(kWarp)) {
      of_p += square(p[i]);
      of_q += square(q[i]);
      both += product(conjugate(p[i]), q[i]);
    }
    of_p = sum_warp(of_p);
    of_q = sum_warp(of_q);
    both = sum_warp(both);
    const R size = modulus(both);
    // Rest that rounding leaves of a product of m terms that is 0.
    const R least = std::numeric_limits<R>::epsilon() * std::sqrt(R(m));
    if (!(size > least * std::sqrt(of_p) * std::sqrt(of_q)) ||
        size < std::numeric_limits<R>::min())
      return false;
    // q is turned to where the product is real, then both by the angle.
    const T phase = times(1 / size, conjugate(both));
    const R zeta = (of_q - of_p) / (2 * size);
    const R t =
        std::copysign(R(1), zeta) / (std::abs(zeta) + ::hypot(R(1), zeta));
    const R c = 1 / std::sqrt(1 + t * t), s = c * t;
    rotate(p, q, m, lane, c, s, phase);
    if (v) rotate(v + int64_t(x) * n, v + int64_t(y) * n, n, lane, c, s, phase);
    return true;
  }
  __device__ static void rotate(T* p, T* q, int count, int lane, R c, R s,
                                T phase) {
    for (int i = lane; i < count; i += int(kWarp)) {
      const T x = p[i], y = product(phase, q[i]);
      p[i] = times(c, x) - times(s, y);
      q[i] = times(s, x) + times(c, y);
    }
  }

  /// False if it did not converge. Begins and ends with a barrier.
  __device__ bool solve() const {
    if (v)
      for_matrix(n, n, [&](int i, int j) {
        v[int64_t(i) * n + j] = T(i == j ? 1 : 0);
      });
    __syncthreads();
    const int players = n + n % 2, warps = int(blockDim.x / kWarp);
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      bool turned = false;
      for (int round = 0; round + 1 < players; ++round) {
        for (int i = int(threadIdx.x / kWarp); i < players / 2; i += warps) {
          int x, y;
          pair_of(round, i, players, x, y);
          if (y < n) turned |= turn(x, y);
        }
        __syncthreads();
      }
      if (!__syncthreads_or(turned)) return true;
    }
    return false;
  }

  /// The length of each column, which becomes a unit vector, or zero if its
  /// squares are too small to tell. Ends with a barrier.
  __device__ void normalise() const {
    const int lane = int(threadIdx.x % kWarp), step = int(blockDim.x / kWarp);
    for (int j = int(threadIdx.x / kWarp); j < n; j += step) {
      T* const x = b + int64_t(j) * m;
      R sum = 0;
      for (int i = lane; i < m; i += int(kWarp)) sum += square(x[i]);
      sum = sum_warp(sum);
      const R length = sum > kTiny<R> ? std::sqrt(sum) : R(0);
      if (lane == 0) values[j] = length;
      const R up = length > 0 ? 1 / length : R(0);
      for (int i = lane; i < m; i += int(kWarp)) x[i] = times(up, x[i]);
    }
    __syncthreads();
  }

  /// places[j]: how many columns are longer, or as long and stand before j.
  __device__ void sort(int32_t* places) const {
    for_line(0, n, [&](int j) {
      int place = 0;
      for (int k = 0; k < n; ++k)
        place +=
            values[k] > values[j] || (values[k] == values[j] && k < j) ? 1 : 0;
      places[j] = place;
    });
    __syncthreads();
  }
};

/// info of what failed.
inline constexpr int kSingularNotFinite = 1, kSingularNotConverged = 2;

/// Reads the problem of p.m by p.n and solves it in `jacobi`. Of much more rows
/// than columns, which are `tall`'s, that is the problem of R in B = QR: Q's
/// reflections stay in `tall`. Returns the scale, 0 if it failed: info says
/// how.
template <class T>
__device__ Real<T> solve_singular(const LinalgParams& p, const Jacobi<T>& tall,
                                  const Jacobi<T>& jacobi, T* taus, T* room) {
  const int m = tall.m, n = tall.n;
  const Real<T> scale = tall.read(matrix_of<T>(p.in[0], p.m, p.n), p.m < p.n);
  if (scale != 0 && jacobi.b != tall.b) {
    factor_qr(m, n, tall.b, int64_t(1), int64_t(m), taus, room);
    for_matrix(n, n, [&](int j, int i) {
      jacobi.b[int64_t(j) * n + i] = i <= j ? tall.b[int64_t(j) * m + i] : T(0);
    });
  }
  const bool done = scale != 0 && jacobi.solve();
  if (threadIdx.x == 0)
    p.info[blockIdx.x] = scale == 0 ? kSingularNotFinite
                         : done     ? 0
                                    : kSingularNotConverged;
  if (!done) return 0;
  jacobi.normalise();
  return scale;
}

}  // namespace hotaru::cuda
