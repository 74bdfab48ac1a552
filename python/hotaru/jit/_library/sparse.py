"""Sparse tensors in compiled code, which calls Python for them.

Programs that do cannot be saved.
"""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor

from .. import _marks


@_marks.ignore
def _coo_of_parts(
    indices: Tensor,
    values: Tensor,
    size: list[int] | None = None,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    return torch.sparse_coo_tensor(
        indices, values, size, dtype=dtype, device=device, is_coalesced=is_coalesced
    )


@_marks.ignore
def _coo_of_size(
    size: list[int],
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
) -> Tensor:
    return torch.sparse_coo_tensor(size, dtype=dtype, device=device)


@_marks.ignore
def _csr(
    crow_indices: Tensor,
    col_indices: Tensor,
    values: Tensor,
    size: list[int] | None = None,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
) -> Tensor:
    given = () if size is None else (size,)
    return torch.sparse_csr_tensor(
        crow_indices, col_indices, values, *given, dtype=dtype, device=device
    )


@_marks.ignore
def to_sparse(self: Tensor, sparse_dim: int | None = None) -> Tensor:
    return self.to_sparse() if sparse_dim is None else self.to_sparse(sparse_dim)


@_marks.ignore
def to_dense(self: Tensor) -> Tensor:
    return self.to_dense()


@_marks.ignore
def coalesce(self: Tensor) -> Tensor:
    return self.coalesce()


@_marks.ignore
def is_coalesced(self: Tensor) -> bool:
    return self.is_coalesced()


@_marks.ignore
def indices(self: Tensor) -> Tensor:
    return self.indices()


@_marks.ignore
def values(self: Tensor) -> Tensor:
    return self.values()


@_marks.ignore
def crow_indices(self: Tensor) -> Tensor:
    return self.crow_indices()


@_marks.ignore
def col_indices(self: Tensor) -> Tensor:
    return self.col_indices()


@_marks.ignore
def _sparse_dim(self: Tensor) -> int:
    return self.sparse_dim()


def sparse_dim(self: Tensor) -> int:
    return 0 if self.layout == torch.strided else _sparse_dim(self)


@_marks.ignore
def _dense_dim(self: Tensor) -> int:
    return self.dense_dim()


def dense_dim(self: Tensor) -> int:
    return self.dim() if self.layout == torch.strided else _dense_dim(self)


@_marks.ignore
def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product `torch.sparse.mm`."""
    return torch.sparse.mm(mat1, mat2)


#: As `torch_level.OVERLOADS`.
OVERLOADS = {
    "sparse_coo_tensor": (_coo_of_parts, _coo_of_size),
    "sparse_csr_tensor": (_csr,),
}
#: Methods of tensors.
METHODS = {
    f.__name__: f
    for f in (
        to_sparse,
        to_dense,
        coalesce,
        is_coalesced,
        indices,
        values,
        crow_indices,
        col_indices,
        sparse_dim,
        dense_dim,
    )
}
