// Dense linear algebra on matrices and batches of them [..., m, n]. Floating
// (32 and 64 bits) and complex dtypes. An `info` is an int32 for each matrix, 0
// where all went well; the others throw LinAlgError instead.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

Tensor linalg_inv(const Tensor& A);
std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A,
                                         bool check_errors = false);
Tensor linalg_det(const Tensor& A);
/// Sign and logarithm of the determinant's modulus.
std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A);
/// X with A X = B, or X A = B unless left. B is a vector if it has one
/// dimension or A's batch and one more.
Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left = true);
/// The same and its `info`; X has no meaning where A is singular.
std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B,
                                           bool left = true,
                                           bool check_errors = false);
/// The same with a triangular A, of which nothing else is read.
Tensor linalg_solve_triangular(const Tensor& A, const Tensor& B, bool upper,
                               bool left = true, bool unitriangular = false);
/// The same for matrices of one batch, from the left, and without a gradient.
/// With `checked`, the operator's name in messages, LinAlgError for a zero on a
/// diagonal (on the CPU; a GPU's X is infinite then).
Tensor solve_triangular(const Tensor& A, const Tensor& B, bool upper,
                        bool unitriangular, const char* checked = nullptr);
/// L with A = L L^H; reads the lower triangle (the upper for U^H U).
Tensor linalg_cholesky(const Tensor& A, bool upper = false);
/// X with L L^H X = B, or U^H U X = B, for a factor; zeros beside the triangle
/// are not assumed by the gradient.
Tensor cholesky_solve(const Tensor& B, const Tensor& factor,
                      bool upper = false);

/// mode: "reduced", "complete", or "r" (Q is empty).
std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A,
                                     const std::string& mode = "reduced");
/// The columns of the product of reflections I - tau v v^H, v in the columns
/// below the diagonal.
Tensor linalg_householder_product(const Tensor& A, const Tensor& tau);

/// LU and pivots of P A = L U.
std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(
    const Tensor& A, bool pivot = true, bool check_errors = false);
Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B,
                       bool left = true, bool adjoint = false);
/// Rows of P^T A, as indices of A's; [..., rows].
Tensor pivots_to_rows(const Tensor& pivots, int64_t rows, bool solving = false);

/// U, S and Vh with A = U S Vh, S descending.
std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A,
                                              bool full_matrices = true);
Tensor linalg_svdvals(const Tensor& A);
/// Eigenvalues, ascending, and vectors of a Hermitian matrix.
std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& A,
                                       const std::string& uplo = "L");
Tensor linalg_eigvalsh(const Tensor& A, const std::string& uplo = "L");
/// Eigenvalues and eigenvectors of any matrix; both complex.
std::tuple<Tensor, Tensor> linalg_eig(const Tensor& A);

/// The pseudoinverse; singular values up to max(atol, rtol * largest) count as
/// zero.
Tensor linalg_pinv(const Tensor& A, const Tensor& atol, const Tensor& rtol,
                   bool hermitian = false);
Tensor linalg_matrix_exp(const Tensor& A);

/// Norms of matrices in two dimensions: order 1, 2, infinity or their
/// negatives, "fro" or "nuc".
Tensor linalg_matrix_norm(const Tensor& A, const Scalar& order, IntSpan dims,
                          bool keepdim, Optional<DType> dtype);
Tensor linalg_matrix_norm(const Tensor& A, const std::string& order,
                          IntSpan dims, bool keepdim, Optional<DType> dtype);
Tensor linalg_norm(const Tensor& A, Optional<Scalar> order,
                   Optional<IntSpan> dims, bool keepdim, Optional<DType> dtype);

}  // namespace hotaru
