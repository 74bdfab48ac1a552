// Schur's form of a general matrix: the reduction to Hessenberg form and QR
// with two shifts (G. Golub and C. Van Loan, Matrix computations, 7.4 and 7.5).
// What is decided is computed by every thread alike; rows and columns are
// turned by all of them together.
#pragma once

#include "hotaru/backend/common/linalg/schur.h"
#include "hotaru/backend/cuda/device/linalg/reflector.h"

namespace hotaru::cuda {

/// A reflection of two or three rows or columns, v's first element 1: H^H x is
/// beta e_1.
template <class T>
struct SmallReflection {
  using R = Real<T>;

  int count;
  T v1 = T(0), v2 = T(0), tau = T(0);
  R beta;

  __device__ SmallReflection(int rows, T x0, T x1, T x2) : count(rows) {
    R size = magnitude(x0);
    if (magnitude(x1) > size) size = magnitude(x1);
    if (magnitude(x2) > size) size = magnitude(x2);
    beta = real_part(x0);
    if (!(size > 0)) return;
    // To where squares are in range.
    const R up = size < kTiny<R> ? 1 / kTiny<R> : 1 / size;
    x0 = times(up, x0);
    x1 = times(up, x1);
    x2 = times(up, x2);
    const R below = square(x1) + square(x2);
    if (below == 0 && imag_part(x0) == 0) return;
    const R length = std::sqrt(square(x0) + below);
    const R end = std::signbit(beta) ? length : -length;
    const T scale = quotient(T(1), x0 - T(end));
    v1 = product(x1, scale);
    v2 = product(x2, scale);
    tau = quotient(T(end) - x0, T(end));
    beta = end / up;
  }

  /// x [count, n], rows ld apart, becomes H^H x.
  __device__ void turn_rows(int n, T* x, int64_t ld) const {
    const T left = conjugate(tau);
    for_line(0, n, [&](int j) {
      T* const at = x + j;
      T sum = at[0] + product(conjugate(v1), at[ld]);
      if (count == 3) sum += product(conjugate(v2), at[2 * ld]);
      sum = product(left, sum);
      at[0] -= sum;
      at[ld] -= product(v1, sum);
      if (count == 3) at[2 * ld] -= product(v2, sum);
    });
  }
  /// x [n, count] becomes x H.
  __device__ void turn_columns(int n, T* x, int64_t ld) const {
    for_line(0, n, [&](int i) {
      T* const at = x + i * ld;
      T sum = at[0] + product(at[1], v1);
      if (count == 3) sum += product(at[2], v2);
      sum = product(sum, tau);
      at[0] -= sum;
      at[1] -= product(sum, conjugate(v1));
      if (count == 3) at[2] -= product(sum, conjugate(v2));
    });
  }
};

/// A matrix h and, unless null, the adjoint of what turned its columns.
template <class T>
struct Schur {
  using R = Real<T>;
  using C = std::complex<R>;
  /// For each eigenvalue; two or three are usual.
  static constexpr int kMostSteps = 300;

  int n;
  T *h, *turned;

  __device__ T& at(int i, int j) const { return h[int64_t(i) * n + j]; }

  /// h becomes Hessenberg, and `turned` begins. `room` is kBlock elements of
  /// shared memory. Begins and ends with a barrier.
  __device__ void reduce(T* room) const {
    if (turned)
      for_matrix(n, n, [&](int i, int j) {
        turned[int64_t(i) * n + j] = T(i == j ? 1 : 0);
      });
    for (int j = 0; j + 2 < n; ++j) {
      const int rows = n - j - 1;
      T* const x = &at(j + 1, j);
      const T tau = make_reflector(rows, x, n);
      reflect(rows, rows, x, n, conjugate(tau), x + 1, n, 1, room);
      reflect<true>(rows, n, x, n, tau, h + j + 1, 1, n, room);
      if (turned)
        reflect(rows, n, x, n, conjugate(tau), turned + int64_t(j + 1) * n, n,
                1, room);
      for_line(1, rows, [&](int i) { x[int64_t(i) * n] = T(0); });
    }
    __syncthreads();
  }

  /// H^H h H for rows and columns from k on: of the rows those elements from
  /// column k on, of the columns those above row `end`. Ends with a barrier.
  __device__ void turn(const SmallReflection<T>& by, int k, int end) const {
    __syncthreads();
    by.turn_rows(n - k, &at(k, k), n);
    if (turned) by.turn_rows(n, turned + int64_t(k) * n, n);
    __syncthreads();
    by.turn_columns(end, h + k, n);
    __syncthreads();
  }

  /// Takes the element below the diagonal of two rows away, unless that would
  /// make real numbers complex.
  __device__ void split(int k) const {
    const T a = at(k, k), b = at(k, k + 1), c = at(k + 1, k),
            d = at(k + 1, k + 1);
    if constexpr (!kIsComplex<T>) {
      const T p = (a - d) / 2;
      if (p * p + b * c < 0) return;
    }
    C two[2];
    pair_values(a, b, c, d, two);
    T z;  // (z, c) is an eigenvector
    if constexpr (kIsComplex<T>)
      z = two[0] - d;
    else
      z = two[0].real() - d;
    turn(SmallReflection<T>(2, z, c, T(0)), k, k + 2);
    if (threadIdx.x == 0) at(k + 1, k) = T(0);
    __syncthreads();
  }

  /// One step over rows [low, high), three at least.
  __device__ void step(int low, int high, int number) const {
    C shifts[2], x[3];
    choose_shifts(h, int64_t(n), low, high, number, shifts);
    first_column(h, int64_t(n), low, shifts, x);
    const int end = low + 4 < high ? low + 4 : high;
    if constexpr (kIsComplex<T>)
      turn({3, x[0], x[1], x[2]}, low, end);
    else
      turn({3, x[0].real(), x[1].real(), x[2].real()}, low, end);
    for (int k = low; k + 2 < high; ++k) {
      const int rows = high - k - 1 < 3 ? 2 : 3;
      const SmallReflection<T> by(rows, at(k + 1, k), at(k + 2, k),
                                  rows > 2 ? at(k + 3, k) : T(0));
      turn(by, k + 1, k + 5 < high ? k + 5 : high);
      if (threadIdx.x == 0) {
        at(k + 1, k) = T(by.beta);
        at(k + 2, k) = T(0);
        if (rows > 2) at(k + 3, k) = T(0);
      }
    }
    __syncthreads();
  }

  /// Makes h upper triangular, of real T but for blocks of two rows whose
  /// eigenvalues are complex. False if it did not converge.
  __device__ bool iterate() const {
    R largest = 0;
    for_matrix(n, n, [&](int i, int j) {
      const R size = magnitude(at(i, j));
      if (size > largest) largest = size;
    });
    const R norm = largest_block(largest);
    int steps = 0;
    for (int high = n; high > 1;) {
      int low = high - 1;
      while (low > 0 && !small_below<T>(h, n, low, norm)) --low;
      __syncthreads();
      if (low > 0 && threadIdx.x == 0) at(low, low - 1) = T(0);
      __syncthreads();
      if (low + 2 >= high) {
        if (low + 2 == high) split(low);
        high = low;
        steps = 0;
        continue;
      }
      if (steps == kMostSteps) return false;
      step(low, high, steps++);
    }
    return true;
  }

  /// True if rows i and i + 1 are one block on the diagonal.
  __device__ bool is_pair(int i) const {
    return i >= 0 && i + 1 < n && at(i + 1, i) != T(0);
  }
};

}  // namespace hotaru::cuda
