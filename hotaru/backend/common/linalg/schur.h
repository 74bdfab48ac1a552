// Steps of QR with two shifts (G. Golub and C. Van Loan, Matrix computations,
// 7.5) that are scalar formulas.
#pragma once

#include <algorithm>
#include <limits>

#include "hotaru/backend/common/complex_math.h"
#include "hotaru/backend/common/linalg/scalar.h"

namespace hotaru {

/// Eigenvalues of [a b; c d], of real ones the positive imaginary part first.
template <class T>
HOTARU_BOTH void pair_values(T a, T b, T c, T d, std::complex<Real<T>>* two) {
  using C = std::complex<Real<T>>;
  const T p = (a - d) / Real<T>(2), bc = product(b, c);
  const T square = product(p, p) + bc;
  if constexpr (kIsComplex<T>) {
    const C root = lib::sqrt(square);
    const C z = lib::norm(p + root) > lib::norm(p - root) ? p + root : p - root;
    two[0] = d + z;
    two[1] = z == T(0) ? d : d - bc / z;
  } else if (square < 0) {
    two[0] = C((a + d) / 2, std::sqrt(-square));
    two[1] = lib::conj(two[0]);
  } else {
    const T z = p + std::copysign(std::sqrt(square), p);
    two[0] = d + z;
    two[1] = z == 0 ? d : d - bc / z;
  }
}

/// Tells whether h_(k, k-1) may be taken for 0 in a matrix of this norm.
template <class T>
HOTARU_BOTH bool small_below(const T* h, int64_t ld, int64_t k, Real<T> norm) {
  const T* corner = h + (k - 1) * (ld + 1);
  Real<T> size = magnitude(corner[0]) + magnitude(corner[ld + 1]);
  constexpr Real<T> kEps = std::numeric_limits<Real<T>>::epsilon();
  if (size == 0) size = norm;
  return magnitude(corner[ld]) <= kEps * std::max(size, kEps * norm);
}

/// The first column of (h - shift) (h - other shift), from row k of a
/// Hessenberg matrix on, in some scale.
template <class T>
HOTARU_BOTH void first_column(const T* h, int64_t ld, int64_t k,
                              const std::complex<Real<T>>* shifts,
                              std::complex<Real<T>>* x) {
  using R = Real<T>;
  using C = std::complex<R>;
  const T* corner = h + k * (ld + 1);
  const C a = corner[0], b = corner[1], c = corner[ld], d = corner[ld + 1],
          e = corner[2 * ld + 1];
  const R size = magnitude(a - shifts[1]) + magnitude(c);
  if (size == 0) {
    x[0] = 1;
    x[1] = x[2] = 0;
    return;
  }
  const C below = c / size;
  x[0] = product(a - shifts[0], (a - shifts[1]) / size) + product(b, below);
  x[1] = product(below, a + d - shifts[0] - shifts[1]);
  x[2] = product(below, e);
}

/// Both eigenvalues of the last two rows, or of real ones twice the nearer.
template <class T>
HOTARU_BOTH void choose_shifts(const T* h, int64_t n, int64_t low, int64_t high,
                               int64_t step, std::complex<Real<T>>* shifts) {
  using R = Real<T>;
  const auto at = [=](int64_t i, int64_t j) { return h[i * n + j]; };
  const int64_t i = high - 1;
  if (step % 10 == 9) {  // others, in case these turn in circles
    const int64_t k = step % 20 == 9 ? i : low + 2;
    const R size = magnitude(at(k, k - 1)) + magnitude(at(k - 1, k - 2));
    const T middle = at(step % 20 == 9 ? i : low, step % 20 == 9 ? i : low) +
                     T(R(0.75) * size);
    return pair_values<T>(middle, T(R(-0.4375) * size), T(size), middle,
                          shifts);
  }
  pair_values(at(i - 1, i - 1), at(i - 1, i), at(i, i - 1), at(i, i), shifts);
  if (kIsComplex<T> || shifts[0].imag() != 0) return;
  const std::complex<R> last(at(i, i));
  if (lib::abs(shifts[0] - last) < lib::abs(shifts[1] - last))
    shifts[1] = shifts[0];
  else
    shifts[0] = shifts[1];
}

}  // namespace hotaru
