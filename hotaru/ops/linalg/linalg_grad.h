// Gradients of dense linear algebra (M. Giles, Collected matrix derivative
// results for forward and reverse mode algorithmic differentiation, 2008, where
// no other source is named). Each records its outputs, just computed, if an
// operand asks for a gradient.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

void record_inverse(const Tensor& out, const Tensor& A);
void record_determinant(const Tensor& out, const Tensor& A);
void record_slogdet(const Tensor& sign, const Tensor& logabs, const Tensor& A);
/// B is a batch of matrices.
void record_solve(const Tensor& out, const Tensor& A, const Tensor& B);
void record_triangular(const Tensor& out, const Tensor& A, const Tensor& B,
                       bool upper, bool unit);
/// out is lower triangular.
void record_cholesky(const Tensor& out, const Tensor& A);
/// out solves factor factor^H out = B, or factor^H factor out = B if upper.
void record_cholesky_solve(const Tensor& out, const Tensor& B,
                           const Tensor& factor, bool upper);
void record_cholesky_inverse(const Tensor& out, const Tensor& factor,
                             bool upper);
/// Records the reduced mode.
void record_qr(const Tensor& Q, const Tensor& R, const Tensor& A);
/// Records L and U in one matrix, and each for itself.
void record_lu(const Tensor& LU, const Tensor& pivots, const Tensor& A);
void record_triangles(const Tensor& L, const Tensor& U, const Tensor& pivots,
                      const Tensor& A);

/// Records the reduced factors, or the first columns and rows of the full ones.
void record_svd(const Tensor& U, const Tensor& S, const Tensor& Vh,
                const Tensor& A);
void record_eigh(const Tensor& L, const Tensor& V, const Tensor& A);
void record_eig(const Tensor& L, const Tensor& V, const Tensor& A);
void record_pinv(const Tensor& out, const Tensor& A);
/// X minimises |A X - B|; residuals may be empty. rtol may be undefined.
void record_lstsq(const Tensor& X, const Tensor& residuals, const Tensor& A,
                  const Tensor& B, const Tensor& rtol);
void record_matrix_exp(const Tensor& out, const Tensor& A);

}  // namespace hotaru
