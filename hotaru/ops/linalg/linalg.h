// Dense linear algebra on matrices and batches of them [..., m, n]. Floating
// (32 and 64 bits) and complex dtypes.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

Tensor linalg_inv(const Tensor& A);
Tensor linalg_det(const Tensor& A);
/// Sign and logarithm of the determinant's modulus.
std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A);
/// X with A X = B, or X A = B unless left. B is a vector if it has one
/// dimension or A's batch and one more.
Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left = true);
/// L with A = L L^H; reads the lower triangle (the upper for U^H U).
Tensor linalg_cholesky(const Tensor& A, bool upper = false);
/// mode: "reduced", "complete", or "r" (Q is empty).
std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A,
                                     const std::string& mode = "reduced");

}  // namespace hotaru
