"""Linear algebra on matrices and batches of them, [..., m, n].

Floating dtypes of 32 and 64 bits, and complex ones. Singular and indefinite
matrices raise LinAlgError, a RuntimeError; functions that end in `_ex` say in
`info`, an int32 for each matrix, what they met instead.
"""

from __future__ import annotations

from ._C import _LinAlgError as LinAlgError
from ._C import ops
from ._late import lent as _lent
from ._overrides import overridable as _overridable

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

# Factors.
#: cholesky(A, *, upper=False): L with A = L L^H.
cholesky = ops.linalg_cholesky
#: cholesky_ex(A, *, upper=False, check_errors=False): L, info.
cholesky_ex = ops.linalg_cholesky_ex
#: ldl_factor(A, *, hermitian=False): LD and pivots of A = L D L^T (L^H).
ldl_factor = ops.linalg_ldl_factor
#: ldl_factor_ex(A, *, hermitian=False, check_errors=False): LD, pivots, info.
ldl_factor_ex = ops.linalg_ldl_factor_ex
#: lu(A, *, pivot=True): P, L and U with A = P L U.
lu = ops.linalg_lu
#: lu_factor(A, *, pivot=True): LU in one matrix, and pivots.
lu_factor = ops.linalg_lu_factor
#: lu_factor_ex(A, *, pivot=True, check_errors=False): LU, pivots, info.
lu_factor_ex = ops.linalg_lu_factor_ex
#: qr(A, mode="reduced"): Q and R; mode "complete" or "r".
qr = ops.linalg_qr
#: householder_product(A, tau): Q, the product of A's reflections.
householder_product = ops.linalg_householder_product

# Singular values and eigenvalues.
#: svd(A, full_matrices=True): U, S and Vh with A = U S Vh.
svd = ops.linalg_svd
#: svdvals(A): singular values, descending.
svdvals = ops.linalg_svdvals
#: eig(A): eigenvalues and eigenvectors, both complex.
eig = ops.linalg_eig
#: eigvals(A): eigenvalues.
eigvals = ops.linalg_eigvals
#: eigh(A, UPLO="L"): eigenvalues, ascending, and vectors of Hermitian A.
eigh = ops.linalg_eigh
#: eigvalsh(A, UPLO="L"): eigenvalues of Hermitian A.
eigvalsh = ops.linalg_eigvalsh

# Equations and inverses.
#: solve(A, B, *, left=True): X with A X = B, or X A = B.
solve = ops.linalg_solve
#: solve_ex(A, B, *, left=True, check_errors=False): X, info.
solve_ex = ops.linalg_solve_ex
#: solve_triangular(A, B, *, upper, left=True, unitriangular=False): X.
solve_triangular = ops.linalg_solve_triangular
#: lu_solve(LU, pivots, B, *, left=True, adjoint=False): X.
lu_solve = ops.linalg_lu_solve
#: ldl_solve(LD, pivots, B, *, hermitian=False): X.
ldl_solve = ops.linalg_ldl_solve
#: lstsq(A, B, rcond=None, *, driver=None): least squares.
lstsq = ops.linalg_lstsq
#: inv(A): the inverses.
inv = ops.linalg_inv
#: inv_ex(A, *, check_errors=False): the inverses, info.
inv_ex = ops.linalg_inv_ex
#: pinv(A, *, atol=None, rtol=None, hermitian=False): the pseudoinverses.
pinv = ops.linalg_pinv
#: tensorinv(A, ind=2): the inverse of tensordot(A, ., ind).
tensorinv = ops.linalg_tensorinv
#: tensorsolve(A, B, dims=None): X with tensordot(A, X, X.ndim) = B.
tensorsolve = ops.linalg_tensorsolve

# Numbers that describe a matrix.
#: det(A): [...], the determinants.
det = ops.linalg_det
#: slogdet(A): sign and logarithm of the modulus of the determinants.
slogdet = ops.linalg_slogdet
#: norm(A, ord=None, dim=None, keepdim=False, *, dtype=None): of either kind.
norm = ops.linalg_norm
#: vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None).
vector_norm = ops.linalg_vector_norm
#: matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None).
matrix_norm = ops.linalg_matrix_norm
#: cond(A, p=None): condition numbers.
cond = ops.linalg_cond
#: matrix_rank(A, *, atol=None, rtol=None, hermitian=False): int64.
matrix_rank = ops.linalg_matrix_rank

# Products and powers.
#: matmul(A, B): as torch.matmul.
matmul = ops.linalg_matmul
#: multi_dot(tensors): their product, in the order that costs least.
multi_dot = ops.linalg_multi_dot
#: vecdot(x, y, *, dim=-1): sums of conj(x) y.
vecdot = ops.linalg_vecdot
#: cross(x, y, *, dim=-1): vector products.
cross = ops.linalg_cross
#: matrix_power(A, n): A multiplied n times; negative n inverts.
matrix_power = ops.linalg_matrix_power
#: matrix_exp(A): the exponential of a matrix.
matrix_exp = ops.linalg_matrix_exp
#: vander(x, *, N=None): powers 0 to N - 1 of each element.
vander = ops.linalg_vander
#: diagonal(A, *, offset=0, dim1=-2, dim2=-1): a view.
diagonal = ops.linalg_diagonal


def polar(A, *, out=None):
    """U with orthonormal columns and H, Hermitian and positive: A = U H."""
    return _lent("polar_factors")(A, out=out)


def matrix_sqrth(A):
    """The square root of a Hermitian, positive matrix, Hermitian itself."""
    return _lent("matrix_sqrth")(A)


_overridable(globals(), __all__)
