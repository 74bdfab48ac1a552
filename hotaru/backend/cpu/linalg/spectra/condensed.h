// Common parts of eigenvalues and singular values: copies of matrices whose
// numbers are finite and neither too large nor too small to be squared.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "hotaru/backend/common/linalg/tridiagonal.h"
#include "hotaru/backend/cpu/linalg/matrix.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {

/// to[j, i] = f(from[i, j]) for i < rows, j < columns; in squares, so that
/// neither side's lines leave the cache.
template <class T, class U, class F>
void transpose(int64_t rows, int64_t columns, const T* from,
               int64_t from_stride, U* to, int64_t to_stride, const F& f) {
  constexpr int64_t kSide = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kSide)
    for (int64_t j0 = 0; j0 < columns; j0 += kSide) {
      const int64_t i1 = std::min(rows, i0 + kSide);
      const int64_t j1 = std::min(columns, j0 + kSide);
      for (int64_t j = j0; j < j1; ++j)
        for (int64_t i = i0; i < i1; ++i)
          to[j * to_stride + i] = f(from[i * from_stride + j]);
    }
}

/// Columns of `to` [n, n] become the rows of `from` [n, n] in this order.
template <class R, class T>
void copy_columns(int64_t n, const int64_t* order, const R* from, T* to,
                  int64_t to_stride) {
  constexpr int64_t kSide = 16;
  for (int64_t i0 = 0; i0 < n; i0 += kSide)
    for (int64_t j = 0; j < n; ++j) {
      const R* row = from + order[j] * n;
      for (int64_t i = i0; i < std::min(n, i0 + kSide); ++i)
        to[i * to_stride + j] = T(row[i]);
    }
}

template <class T>
void conjugate_all(int64_t n, T* x) {
  if constexpr (kIsComplex<T>)
    for (int64_t i = 0; i < n; ++i) x[i] = std::conj(x[i]);
}

/// The largest part of count numbers, NaN or infinity if one is.
template <class T>
Real<T> largest_part(int64_t count, const T* x) {
  using R = Real<T>;
  const R* parts = reinterpret_cast<const R*>(x);
  R largest = 0, rest = 0;  // rest: x - x, which is 0 of finite numbers only
  for (int64_t i = 0; i < count * (kIsComplex<T> ? 2 : 1); ++i) {
    largest = std::max(largest, std::abs(parts[i]));
    rest += parts[i] - parts[i];
  }
  return largest + rest;
}

/// The factor that takes numbers up to `largest` to where their squares are in
/// range, 1 for most.
template <class R>
R safe_scale(R largest) {
  // Sums of squares lose nothing above, and do not overflow below.
  const R least = std::sqrt(std::numeric_limits<R>::min()) /
                  std::numeric_limits<R>::epsilon();
  if (largest == 0 || (largest >= least && largest <= 1 / least)) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);
  constexpr int kMost = std::numeric_limits<R>::max_exponent - 2;
  return std::ldexp(R(1), -std::clamp(exponent, -kMost, kMost));
}

/// f(i), an error number or 0, of each matrix of a batch; some at the same
/// time, if the work of each is `cost`. Returns these.
template <class F>
std::vector<int64_t> for_matrices(int64_t batch, int64_t cost, const F& f) {
  constexpr int64_t kWork = 1 << 16;
  std::vector<int64_t> errors(static_cast<size_t>(batch));
  parallel_for(0, batch, kWork / std::max<int64_t>(cost, 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) errors[size_t(i)] = f(i);
               });
  return errors;
}

}  // namespace hotaru::cpu
