// Products of matrices and vectors, rotations, and the sums of secular
// equations, with the widest vectors that this processor has: what reductions
// do besides products of matrices. Matrices are row-major, rows `lda` apart.
#pragma once

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {

/// Where a secular function is evaluated: at origin + offset. Its differences
/// from the poles d are d - x, or d^2 - x^2 if `squares`; that the origin is
/// the nearest pole keeps them accurate.
template <class R>
struct SecularPoint {
  R origin, offset;
  bool squares;

  R difference(R d) const {
    const R near = (d - origin) - offset;
    return squares ? near * ((d + origin) + offset) : near;
  }
};

/// Sums over i of z_i^2 / difference_i, of its modulus and of
/// (z_i / difference_i)^2.
template <class R>
struct SecularSums {
  R value, magnitude, slope;
};

/// For T float, double and complex of them.
template <class T>
struct ProductKernels {
  /// y_i = sum over j of a_ij x_j, or of conj(a_ij) x_j; a [m, n].
  void (*rows_times)(int64_t m, int64_t n, const T* a, int64_t lda, const T* x,
                     T* y, bool conjugate);
  /// y_j += sum over i of x_i a_ij, or of x_i conj(a_ij); a [m, n].
  void (*add_rows)(int64_t m, int64_t n, const T* a, int64_t lda, const T* x,
                   T* y, bool conjugate);
  /// As add_rows without conjugates, but each product is rounded before it is
  /// added: what is eliminated by itself leaves zeros.
  void (*add_rounded_rows)(int64_t m, int64_t n, const T* a, int64_t lda,
                           const T* x, T* y);
  /// y = A x of a Hermitian A [n, n], of which the upper triangle and the real
  /// parts of the diagonal are read.
  void (*hermitian_times)(int64_t n, const T* a, int64_t lda, const T* x, T* y);
  /// x [3, n] becomes H^H x of H = I - tau v v^H, v = (1, v1, v2).
  void (*reflect_rows)(int64_t n, T* x, int64_t ldx, T v1, T v2, T tau);
};

/// For R float and double.
template <class R>
struct LineKernels {
  /// Rotation i of `count` turns the rows i and i + 1 of q [count + 1, n]:
  /// (x, y) becomes (c_i x + s_i y, c_i y - s_i x). In order, or the last
  /// first.
  void (*rotate_rows)(int64_t count, int64_t n, R* q, int64_t ldq, const R* c,
                      const R* s, bool last_first);
  /// Index of the first element of the largest magnitude; 0 if none is, as of
  /// NaN.
  int64_t (*largest)(int64_t n, const R* x);
  SecularSums<R> (*secular_sums)(int64_t n, const R* d, const R* z,
                                 const SecularPoint<R>& at);
  /// product_i *= difference_i / (d_i - pole), or of squares
  /// difference_i / (d_i^2 - pole^2).
  void (*secular_ratios)(int64_t n, const R* d, const SecularPoint<R>& at,
                         R pole, R* product);
  /// u_i = z_i / difference_i. Returns the sum of u_i^2.
  R(*secular_vector)
  (int64_t n, const R* d, const R* z, const SecularPoint<R>& at, R* u);
};

/// One of these tables, for this processor.
template <class Table>
const Table& table();

template <class T>
void rows_times(int64_t m, int64_t n, const T* a, int64_t lda, const T* x, T* y,
                bool conjugate = false) {
  table<ProductKernels<T>>().rows_times(m, n, a, lda, x, y, conjugate);
}

template <class T>
void add_rows(int64_t m, int64_t n, const T* a, int64_t lda, const T* x, T* y,
              bool conjugate = false) {
  table<ProductKernels<T>>().add_rows(m, n, a, lda, x, y, conjugate);
}

template <class T>
void add_rounded_rows(int64_t m, int64_t n, const T* a, int64_t lda, const T* x,
                      T* y) {
  table<ProductKernels<T>>().add_rounded_rows(m, n, a, lda, x, y);
}

/// The sum of conj(x_i) y_i.
template <class T>
T dot(int64_t n, const T* x, const T* y) {
  T sum;
  rows_times(1, n, x, n, y, &sum, true);
  return sum;
}

/// y += a x.
template <class T>
void add_multiple(int64_t n, T a, const T* x, T* y) {
  add_rows(1, n, x, n, &a, y);
}

}  // namespace hotaru::cpu
