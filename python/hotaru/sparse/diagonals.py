"""Sparse matrices of diagonals."""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from .._extension.dtypes import scalar_type
from .._tensor.sparse_names import layout_name
from . import coo

_LAYOUTS = (_C.sparse_coo, _C.sparse_csc, _C.sparse_csr)


def spdiags(diagonals: Tensor, offsets: Tensor, shape, layout=None) -> Tensor:
    """A sparse matrix whose diagonals are rows of `diagonals`.

    Args:
        diagonals: (count, length), or one (length,). Element j of a row comes
            into column j.
        offsets: (count,) different int64: how far right of the main one.
        shape: of the matrix.
        layout: sparse_coo unless it is sparse_csr or sparse_csc.
    """
    rows, columns = _check(diagonals, offsets, tuple(shape), layout)
    diagonals = diagonals.reshape(-1, diagonals.shape[-1])
    offsets = offsets.reshape(-1)
    column = hotaru.arange(min(diagonals.shape[1], columns), device=diagonals.device)
    row = column - offsets.unsqueeze(1)
    inside = (row >= 0) & (row < rows)
    diagonal, column = inside.nonzero().unbind(1)
    indices = hotaru.stack([row[diagonal, column], column])
    made = coo.make(indices, diagonals[diagonal, column], (rows, columns))
    if layout is None or layout is _C.sparse_coo:
        return made
    return made.to_sparse(layout=layout)


def _check(diagonals, offsets, shape, layout) -> tuple[int, int]:
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.dim() > 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if diagonals.dim() not in (1, 2):
        raise RuntimeError("Diagonals must be vector or matrix")
    count = diagonals.shape[0] if diagonals.dim() == 2 else 1
    if count != offsets.numel():
        raise RuntimeError(
            f"Number of diagonals ({count}) does not match the number of "
            f"offsets ({offsets.numel()})"
        )
    if layout is not None and layout not in _LAYOUTS:
        raise RuntimeError(
            "Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, "
            f"got {layout_name(layout)}"
        )
    if offsets.dtype != _C.int64:
        kind = scalar_type(offsets.dtype)
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {kind}")
    if offsets.unique().numel() != offsets.numel():
        raise RuntimeError("Offset tensor contains duplicate values")
    return shape
