// Secular equations, whose roots are the eigenvalues of D + rho z z^T, or, of
// D^2 + rho z z^T, the squares of singular values: what divide and conquer
// solves (M. Gu and S. Eisenstat, "A divide-and-conquer algorithm for the
// symmetric tridiagonal eigenproblem", 1995, and for the bidiagonal SVD).
#pragma once

#include <vector>

#include "hotaru/backend/cpu/linalg/vectors.h"

namespace hotaru::cpu {

/// The roots of 1 / rho + sum over i of z_i^2 / (d_i - x), or with
/// d_i^2 - x^2 if `squares`. d ascends strictly, rho > 0, no z is 0.
template <class R>
class SecularEquation {
 public:
  SecularEquation(int64_t n, const R* d, const R* z, R rho, bool squares);

  int64_t size() const { return n_; }
  /// Root i, which lies between d[i] and d[i + 1].
  const SecularPoint<R>& root(int64_t i) const { return roots_[size_t(i)]; }
  R value(int64_t i) const { return root(i).origin + root(i).offset; }

  /// z_i / difference_i for root j, of z for which the roots found are exact;
  /// that is what makes vectors orthogonal. Returns the sum of squares.
  R vector(int64_t j, R* u) const;

 private:
  SecularPoint<R> solve(int64_t j) const;
  void rebuild();
  R gap(int64_t from, int64_t to) const;

  int64_t n_;
  const R* d_;
  const R* given_;
  R inverse_, length_;  // 1 / rho; rho |z|^2
  bool squares_;
  std::vector<SecularPoint<R>> roots_;
  std::vector<R> z_;
};

}  // namespace hotaru::cpu
