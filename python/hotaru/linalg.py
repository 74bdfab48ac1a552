"""Linear algebra on matrices and batches of them, [..., m, n].

Floating dtypes of 32 and 64 bits, and complex ones. Singular and indefinite
matrices raise LinAlgError, a RuntimeError.
"""

from __future__ import annotations

from ._C import _LinAlgError as LinAlgError
from ._C import ops

__all__ = [
    "LinAlgError", "cholesky", "det", "inv", "matrix_power", "qr", "slogdet",
    "solve", "vector_norm",
]  # fmt: skip

#: cholesky(A, *, upper=False): L with A = L L^H.
cholesky = ops.linalg_cholesky
#: det(A): [...], the determinants.
det = ops.linalg_det
#: inv(A): the inverses.
inv = ops.linalg_inv
#: matrix_power(A, n): A multiplied n times; negative n inverts.
matrix_power = ops.linalg_matrix_power
#: qr(A, mode="reduced"): Q and R; mode "complete" or "r".
qr = ops.linalg_qr
#: slogdet(A): sign and logarithm of the modulus of the determinants.
slogdet = ops.linalg_slogdet
#: solve(A, B, *, left=True): X with A X = B, or X A = B.
solve = ops.linalg_solve
#: vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None).
vector_norm = ops.linalg_vector_norm
