// Gradients of dense linear algebra (M. Giles, Collected matrix derivative
// results for forward and reverse mode algorithmic differentiation, 2008).
// Each records `out`, just computed, if an operand asks for a gradient.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

void record_inverse(const Tensor& out, const Tensor& A);
void record_determinant(const Tensor& out, const Tensor& A);
void record_slogdet(const Tensor& sign, const Tensor& logabs, const Tensor& A);
/// B is a batch of matrices.
void record_solve(const Tensor& out, const Tensor& A, const Tensor& B);
/// out is lower triangular.
void record_cholesky(const Tensor& out, const Tensor& A);
/// Of the reduced mode, with at least as many rows as columns.
void record_qr(const Tensor& Q, const Tensor& R, const Tensor& A);

}  // namespace hotaru
