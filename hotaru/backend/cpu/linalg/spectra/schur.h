// Eigenproblems of general matrices: balancing, the reduction to Hessenberg
// form, Schur's form and the eigenvectors of that.
#pragma once

#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {

/// Balance that makes rows and columns of a matrix equally long: an order in
/// which rows and columns outside of [low, high) are triangular, then scales.
template <class T>
class Balance {
 public:
  /// Balances a [n, n].
  Balance(int64_t n, T* a);

  int64_t low() const { return low_; }
  int64_t high() const { return high_; }
  /// Turns vectors, columns of v [n, n], of the balanced matrix back.
  template <class C>
  void restore(C* v) const;

 private:
  bool isolate_row(T* a);
  bool isolate_column(T* a);
  void exchange(T* a, int64_t i, int64_t j);
  void scale(T* a);

  int64_t n_, low_ = 0, high_;
  std::vector<std::pair<int64_t, int64_t>> exchanges_;
  std::vector<Real<T>> scales_;
};

/// Makes a [n, n], which is upper triangular outside of rows and columns
/// [low, high), Q^H A Q with zeros below the diagonal beside the main one; and
/// unless null, z [n, n] that Q.
template <class T>
void hessenberg(int64_t n, int64_t low, int64_t high, T* a, T* z);

/// Makes the Hessenberg matrix h [n, n] upper triangular, of real T but for
/// blocks of two rows whose eigenvalues are complex, and unless z is null
/// multiplies z by what does. Without z only the blocks on the diagonal are
/// right. False if it did not converge.
template <class T>
bool schur(int64_t n, int64_t low, int64_t high, T* h, T* z);

/// The eigenvalues of the diagonal's blocks, positive imaginary parts first.
template <class T>
void block_values(int64_t n, const T* h, int64_t ldh,
                  std::complex<Real<T>>* values);

/// vectors [n, n]: columns are the eigenvectors of z h z^H, in no scale.
template <class T>
void schur_vectors(int64_t n, const T* h, const T* z,
                   const std::complex<Real<T>>* values,
                   std::complex<Real<T>>* vectors);

}  // namespace hotaru::cpu
