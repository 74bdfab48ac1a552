// Schur's form of small matrices by double-shift QR, and what the iteration for
// large ones shares with it. Matrices are row-major.
#pragma once

#include <algorithm>
#include <limits>

#include "hotaru/backend/common/linalg/schur.h"
#include "hotaru/backend/cpu/linalg/reflectors.h"
#include "hotaru/backend/cpu/linalg/vectors.h"

namespace hotaru::cpu {

/// A reflection of two or three rows or columns, v's first element 1.
template <class T>
struct SmallReflection {
  int64_t count;
  T v1, v2, tau;
  Real<T> beta;

  SmallReflection(int64_t rows, T x0, T x1, T x2);

  /// x [count, n], rows ld apart, becomes H^H x.
  void turn_rows(int64_t n, T* x, int64_t ld) const;
  /// x [n, count] becomes x H.
  void turn_columns(int64_t n, T* x, int64_t ld) const;
};

/// A matrix and the adjoint of the product of all that turned its columns.
template <class T>
struct Window {
  int64_t n;
  T *h, *turned;  // [n, n] each

  T& at(int64_t i, int64_t j) const { return h[i * n + j]; }
  /// H^H h H for rows and columns from k on: of the rows those elements from
  /// column `from` on, of the columns those above row `end`.
  void reflect(const SmallReflection<T>& reflection, int64_t k, int64_t from,
               int64_t end) const;
};

/// The reflection that lets two shifts in at row k of a Hessenberg matrix.
template <class T>
SmallReflection<T> first_reflection(const T* h, int64_t ld, int64_t k,
                                    const std::complex<Real<T>>* shifts);

/// Makes a Hessenberg window Schur's form. False if it did not converge.
template <class T>
bool small_schur(const Window<T>& window, Real<T> norm);

}  // namespace hotaru::cpu
