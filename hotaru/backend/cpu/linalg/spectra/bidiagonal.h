// Singular value problems: the reduction to a real upper bidiagonal matrix and
// what solves that.
#pragma once

#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {

/// B = Q^H A P of a matrix A [m, n], m >= n, with diagonal d [n] and e [n - 1]
/// right of it, as products of reflections.
template <class T>
class Bidiagonal {
 public:
  /// Destroys a.
  Bidiagonal(int64_t m, int64_t n, T* a, Real<T>* d, Real<T>* e);

  /// C [m, columns], rows ldc apart, becomes Q C.
  void apply_left(int64_t columns, T* c, int64_t ldc) const;
  /// C [n, columns] becomes P C.
  void apply_right(int64_t columns, T* c, int64_t ldc) const;

 private:
  void reduce(int64_t first, int64_t width, Real<T>* d, Real<T>* e);
  void left_reflection(int64_t first, int64_t c, Real<T>* d);
  void right_reflection(int64_t first, int64_t c, Real<T>* e);
  void update(int64_t first, int64_t width);
  T* left(int64_t j) { return left_.data() + j * m_; }

  int64_t m_, n_;
  T* a_;  // right of its diagonal are the reflections of P
  // By rows those of Q, and behind a panel's the columns of its X; its Y.
  std::vector<T> left_, y_, left_taus_, right_taus_, factors_;
};

/// The singular values [n], in no order, of the upper bidiagonal matrix with d
/// [n] on its diagonal and e [n - 1] above it; the largest element is about 1.
/// False if it did not converge: then `values` are undefined.
template <class R>
bool bidiagonal_values(int64_t n, const R* d, const R* e, R* values);

/// Makes d the singular values, in no order, of the upper bidiagonal matrix
/// [n, n + 1] of d [n] and e [n], or if !extra [n, n] of e [n - 1]; e is
/// destroyed. Unless null, turns the rows of ut [n, n] and vt [n + extra, ..],
/// which are ld apart, from identities to the singular vectors. False if it
/// did not converge.
template <class R>
bool bidiagonal_rotations(int64_t n, bool extra, R* d, R* e, R* ut, R* vt,
                          int64_t ld);

/// Singular vectors by divide and conquer.
template <class R>
class BidiagonalDivide {
 public:
  /// Makes d the singular values, in no order, and destroys e. False if that
  /// did not converge.
  bool solve(int64_t n, R* d, R* e);

  /// Places of the values in descending order.
  const std::vector<int64_t>& order() const { return order_; }
  /// The vectors in that order, as columns of `to` [n, n], rows ld apart; T is
  /// R or complex.
  template <class T>
  void copy_left(T* to, int64_t ld) const;
  template <class T>
  void copy_right(T* to, int64_t ld) const;

 private:
  struct Merge;
  bool solve_block(int64_t begin, int64_t n, bool extra);
  void merge(int64_t begin, int64_t first, int64_t second, bool extra, R alpha,
             R beta);
  void deflate(Merge& m, R least);
  void multiply(const Merge& m);
  void rotate(int64_t i, int64_t j, int64_t columns, R c, R s, R* q);

  int64_t n_ = 0;
  R *d_ = nullptr, *e_ = nullptr;
  std::vector<int64_t> order_;
  std::vector<R> ut_, vt_;  // [n, n]; singular vectors are rows
  std::vector<R> room_, of_u_, of_v_;
};

}  // namespace hotaru::cpu
