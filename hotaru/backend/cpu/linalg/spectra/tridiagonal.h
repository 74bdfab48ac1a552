// Hermitian eigenproblems: the reduction to a real symmetric tridiagonal matrix
// and what solves that.
#pragma once

#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {

/// Makes the Hermitian a [n, n], of which the upper triangle is read, a
/// tridiagonal T = Q^H A Q with diagonal d [n] and e [n - 1] beside it. Right
/// of its diagonal a then holds Q's reflections, whose taus are [n - 1].
template <class T>
void tridiagonalize(int64_t n, T* a, Real<T>* d, Real<T>* e, T* taus);

/// C [n, columns] becomes Q C.
template <class T>
void apply_tridiagonal_basis(int64_t n, const T* a, const T* taus,
                             int64_t columns, T* c);

/// Makes d the eigenvalues of a symmetric tridiagonal matrix, ascending, and
/// destroys e. False if that did not converge.
template <class R>
bool tridiagonal_values(int64_t n, R* d, R* e);

/// Also rotates the rows of q [n, width], ldq apart: from the identity to the
/// eigenvectors. Values are in no order.
template <class R>
bool tridiagonal_rotations(int64_t n, R* d, R* e, int64_t width, R* q,
                           int64_t ldq);

/// Eigenvectors by divide and conquer.
template <class R>
class TridiagonalDivide {
 public:
  /// Makes d the eigenvalues, in no order, and destroys e. False if that did
  /// not converge.
  bool solve(int64_t n, R* d, R* e);

  /// Places of the values in ascending order.
  const std::vector<int64_t>& order() const { return order_; }
  /// The eigenvectors in that order, as columns of `to` [n, n]; T is R or
  /// complex.
  template <class T>
  void copy_vectors(T* to) const;

 private:
  struct Merge;
  bool solve_block(int64_t begin, int64_t n);
  void merge(int64_t begin, int64_t first, int64_t second, R rho);
  void deflate(Merge& m);
  void multiply(const Merge& m);
  void sort(int64_t begin, int64_t n);

  int64_t n_ = 0;
  R *d_ = nullptr, *e_ = nullptr;
  std::vector<int64_t> order_;
  std::vector<R> q_;  // [n, n]; eigenvectors are rows
  std::vector<R> packed_, turned_;
};

}  // namespace hotaru::cpu
