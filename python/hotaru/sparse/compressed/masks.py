"""The elements of one tensor where a compressed one has some."""

from __future__ import annotations

import math

import hotaru

from ..._C import Tensor
from .. import compressed
from ..tensor import BLOCKED, COMPRESSED, SparseTensor, is_sparse, parts_of, values_of


def values_at(source: Tensor, pattern: SparseTensor) -> Tensor:
    """The elements of `source`, strided or sparse, where `pattern` has some:
    of the shape of its values, 0 where a sparse source has none.
    """
    if not is_sparse(source):
        return compressed.gather_dense(source, pattern)
    if _same_indices(source, pattern):
        return values_of(source)
    source = _alike(source, pattern)
    if not is_sparse(source):
        return compressed.gather_dense(source, pattern)
    return _searched(source, pattern)


def _same_indices(source: SparseTensor, pattern: SparseTensor) -> bool:
    mine, other = parts_of(pattern), parts_of(source)
    if other.layout is not mine.layout:
        return False
    if compressed.block_size(source) != compressed.block_size(pattern):
        return False
    return all(
        a is b or (a.shape == b.shape and hotaru.equal(a, b))
        for a, b in ((mine.index, other.index), (mine.inner, other.inner))
    )


def _alike(source: SparseTensor, pattern: SparseTensor) -> Tensor:
    """The source in elements, or in blocks, as the pattern; strided where
    PyTorch has no such conversion.
    """
    block = compressed.block_size(pattern)
    if source.layout in COMPRESSED and compressed.block_size(source) == block:
        return source
    if parts_of(pattern).index.dim() > 1:
        return source.to_dense()
    if source.layout in BLOCKED:
        source = source.to_sparse_coo()
    return source.to_sparse(layout=pattern.layout, blocksize=block)


def _places(tensor: SparseTensor) -> Tensor:
    """(batches * nnz,): where elements (blocks) are among those of all
    batches, row-major.
    """
    place = compressed.positions(tensor)
    batch = parts_of(tensor).index.dim() - 1
    block = compressed.block_size(tensor) or (1, 1)
    area = math.prod(compressed.grid_of(tuple(tensor.shape), batch, block))
    base = hotaru.arange(place.shape[0], device=place.device).unsqueeze(1)
    return (place + base * area).reshape(-1)


def _searched(source: SparseTensor, pattern: SparseTensor) -> Tensor:
    known, values = _places(source), values_of(source)
    batch = parts_of(source).index.dim() - 1
    values = values.reshape(known.shape[0], *values.shape[batch + 1 :])
    wanted, shape = _places(pattern), parts_of(pattern).values.shape
    if not known.shape[0] or not wanted.shape[0]:
        return values.new_zeros(shape)
    order = known.argsort()
    known = known[order]
    at = hotaru.searchsorted(known, wanted).clamp(max=known.shape[0] - 1)
    present = known[at] == wanted
    found = values[order[at]]
    present = present.view(-1, *(1 for _ in found.shape[1:]))
    zero = hotaru.zeros((), dtype=found.dtype, device=found.device)
    return hotaru.where(present, found, zero).reshape(shape)
