"""Sparse tensors as tensors of more elements: of dimensions of size 1."""

from __future__ import annotations

import hotaru

from .. import _C
from . import coo
from ._answers import answers
from .tensor import SparseTensor, parts_of, values_of


@answers("broadcast_to", "_sparse_broadcast_to")
def broadcast_to(tensor: SparseTensor, *size) -> SparseTensor:
    """A tensor of that size, whose leading dimensions may be new, and sizes
    other than 1 are the tensor's. In its layout, with copies of its elements.

    Raises:
        RuntimeError: sizes that do not go together.
    """
    size = tuple(size[0]) if size and not isinstance(size[0], int) else size
    layout = parts_of(tensor).layout
    if layout is not _C.sparse_coo:
        wide = broadcast_to(tensor.to_sparse_coo(), size)
        return wide.to_sparse(layout=layout)
    shape = tuple(tensor.shape)
    new = len(size) - len(shape)
    if new < 0 or any(a not in (1, b) for a, b in zip(shape, size[new:])):
        raise RuntimeError(
            f"The expanded size of the tensor {size} must match the existing "
            f"size {shape} at non-singleton dimensions"
        )
    indices, values = parts_of(tensor).index, values_of(tensor)
    if new:
        lead = indices.new_zeros((new, indices.shape[1]))
        indices = hotaru.cat([lead, indices])
    old = (1,) * new + shape
    dims = indices.shape[0]
    values = values.expand(values.shape[0], *size[dims:])
    for d in range(dims):
        if old[d] != size[d]:
            indices, values = _repeated(indices, values, d, size[d])
    sorted_still = old[:dims] == size[:dims]
    coalesced = sorted_still and _C._sparse_coalesced(tensor)
    return coo.make(indices, values, size, coalesced)


def _repeated(indices, values, d: int, count: int) -> tuple:
    """The elements `count` times, each at another place of dimension `d`."""
    nnz = indices.shape[1]
    values = hotaru.cat([values] * count) if count else values[:0]
    indices = indices.repeat(1, count)
    indices[d] = hotaru.arange(count, device=indices.device).repeat_interleave(
        nnz
    )
    return indices, values
