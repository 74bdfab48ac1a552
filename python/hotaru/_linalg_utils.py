"""Products with matrices that may be sparse, or None for the unit matrix."""

from __future__ import annotations

from . import Tensor, float32, linalg, strided
from . import dtype as _dtype

__all__ = [
    "basis",
    "bform",
    "get_floating_dtype",
    "is_sparse",
    "matmul",
    "qform",
    "symeig",
]


def is_sparse(A: Tensor) -> bool:
    """True if it is kept in a sparse layout."""
    return A.layout is not strided


def get_floating_dtype(A: Tensor) -> _dtype:
    """Its dtype, float32 of integers."""
    return A.dtype if A.is_floating_point() else float32


def matmul(A: Tensor | None, B: Tensor) -> Tensor:
    """A B."""
    return B if A is None else A @ B


def bform(X: Tensor, A: Tensor | None, Y: Tensor) -> Tensor:
    """X^T A Y."""
    return matmul(X.mT, matmul(A, Y))


def qform(A: Tensor | None, S: Tensor) -> Tensor:
    """S^T A S."""
    return bform(S, A, S)


def basis(A: Tensor) -> Tensor:
    """An orthonormal basis of what the columns span."""
    return linalg.qr(A).Q


def symeig(A: Tensor, largest: bool | None = False) -> tuple[Tensor, Tensor]:
    """All eigenvalues and vectors of a symmetric matrix, the smallest (or
    largest) first.
    """
    values, vectors = linalg.eigh(A)
    if largest:
        return values.flip(-1), vectors.flip(-1)
    return values, vectors
