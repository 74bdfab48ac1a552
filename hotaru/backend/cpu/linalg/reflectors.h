// Householder's reflections H = I - tau v v^H, v's first element 1: alone, and
// products of several in the compact form I - V T V^H (R. Schreiber and C. Van
// Loan, "A storage-efficient WY representation for products of Householder
// transformations", 1989).
#pragma once

#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"
#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru::cpu {

/// The reflection for which H^H x = beta e_1, beta real: x[0] becomes beta, the
/// other `count` - 1 elements, `stride` apart, v's. Returns tau, 0 if x is that
/// already. Signs are LAPACK's.
template <class T>
T reflector(int64_t count, T* x, int64_t stride);

/// The product H_0 H_1 ... of reflections on vectors of `rows` elements.
template <class T>
class BlockReflector {
 public:
  /// v of reflection c is column c of `from`, whose rows are `stride` apart,
  /// below the diagonal; what is on and above it is not read. width <= rows.
  BlockReflector(int64_t rows, int64_t width, const T* from, int64_t stride,
                 const T* taus)
      : BlockReflector(rows, width, MatrixRef<T>{from, stride, 1}, taus) {}
  BlockReflector(int64_t rows, int64_t width, MatrixRef<T> from, const T* taus);

  /// C [rows, n], rows ldc apart, becomes H C, or H^H C if `adjoint`.
  void apply(bool adjoint, int64_t n, T* c, int64_t ldc) const;

 private:
  void accumulate(const T* taus);
  MatrixRef<T> left() const {
    if constexpr (kIsComplex<T>) return {adjoint_.data(), rows_, 1};
    return {v_.data(), 1, width_};
  }

  int64_t rows_, width_;
  std::vector<T> v_;        // [rows, width], with its ones and zeros
  std::vector<T> adjoint_;  // V^H [width, rows]; of complex T
  std::vector<T> t_;        // [width, width], upper triangular
};

/// w [m, columns], rows n apart, becomes R of A = QR, and below its diagonal
/// the v of the min(m, columns) reflections whose product is Q. The `more`
/// columns right of them are multiplied by Q^H.
template <class T>
void factor_qr(int64_t m, int64_t columns, T* w, int64_t n, T* taus,
               int64_t more = 0);

/// C [rows, n], rows ldc apart, becomes H_0 H_1 ... C of `count` reflections,
/// whose v lie as BlockReflector takes them.
template <class T>
void apply_reflections(int64_t rows, int64_t count, MatrixRef<T> v,
                       const T* taus, int64_t n, T* c, int64_t ldc);

}  // namespace hotaru::cpu
