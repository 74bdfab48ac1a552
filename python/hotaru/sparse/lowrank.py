"""Factors of low rank of sparse matrices, by their products alone."""

from __future__ import annotations

import hotaru

from .._answering.table import answers
from .._C import Tensor
from .._lowrank import _factors, _rank
from ._kind import ANY
from .tensor import SparseTensor, is_sparse


class _Shifted:
    """A sparse matrix less a strided one that broadcasts to it, which is not
    taken from it but from its products.
    """

    def __init__(self, sparse: SparseTensor, shift: Tensor) -> None:
        self.sparse, self.shift = sparse, shift
        self.shape, self.dtype = sparse.shape, sparse.dtype
        self.device = sparse.device

    def __matmul__(self, x: Tensor) -> Tensor:
        one_column = self.shift.shape[-1] == 1 != self.shape[-1]
        moved = x.sum(-2, keepdim=True) if one_column else x
        return self.sparse @ x - self.shift @ moved

    @property
    def mH(self) -> _Shifted:  # noqa: N802
        return _Shifted(self.sparse.mH, self.shift.mH)


@answers("svd_lowrank", of=ANY)
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """`torch.svd_lowrank` of a sparse matrix."""
    if M is not None and is_sparse(M):
        M = M.to_dense()
    if not is_sparse(A):
        return hotaru.svd_lowrank(A, q, niter, M)
    if not A.is_sparse:
        A = A.to_sparse_coo()
    return _factors(A if M is None else _Shifted(A, M), q, niter)


@answers("pca_lowrank", of=ANY)
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """`torch.pca_lowrank` of a sparse matrix, which stays sparse.

    Raises ValueError for ranks and iterations out of range, and for batches.
    """
    if A.dim() != 2:
        raise ValueError("pca_lowrank input is expected to be 2-dimensional tensor")
    q = _rank(q, *A.shape, niter)
    if not center:
        return svd_lowrank(A, q, niter)
    if not A.is_sparse:
        A = A.to_sparse_coo()
    m = A.shape[0]
    ones = hotaru.ones((1, m), dtype=A.dtype, device=A.device)
    return svd_lowrank(A, q, niter, ones @ A / m)
