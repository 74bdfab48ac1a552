"""Compressed layouts: where rows (columns) begin, and the columns (rows)."""

from __future__ import annotations

import math

import hotaru

from ..._C import Tensor
from ..tensor import BLOCKED, BY_ROWS, Parts, SparseTensor, build, parts_of, values_of


def owners_of(index: Tensor, nnz: int) -> Tensor:
    """(batches, nnz): the row of each element, of (batch..., rows + 1)
    offsets; every batch has `nnz` elements.
    """
    flat = index.long().reshape(math.prod(index.shape[:-1]), index.shape[-1])
    batches, rows = flat.shape[0], flat.shape[1] - 1
    counts = (flat[:, 1:] - flat[:, :-1]).reshape(-1)
    row = hotaru.arange(rows, device=index.device).repeat(batches)
    return hotaru.repeat_interleave(row, counts).reshape(batches, nnz)


def grid_of(size: tuple, batch: int, block: tuple) -> tuple[int, int]:
    """Rows and columns of blocks in a tensor with `batch` batch dimensions."""
    return tuple(size[batch + i] // max(block[i], 1) for i in range(2))


def block_size(tensor: SparseTensor) -> tuple[int, int] | None:
    """Rows and columns of a block; None where there are no blocks."""
    parts = parts_of(tensor)
    if parts.layout not in BLOCKED:
        return None
    batch = parts.index.dim() - 1
    return tuple(parts.values.shape[batch + 1 : batch + 3])


def dense_dims(tensor: SparseTensor) -> int:
    """How many dimensions behind the two sparse ones elements have."""
    parts = parts_of(tensor)
    blocks = 2 if parts.layout in BLOCKED else 0
    return parts.values.dim() - parts.index.dim() - blocks


def positions(tensor: SparseTensor) -> Tensor:
    """(batch, nnz): where each element (block) is in a row-major matrix of
    elements (blocks).
    """
    parts = parts_of(tensor)
    columns = tuple(tensor.shape)[parts.index.dim()]
    columns //= max((block_size(tensor) or (1, 1))[1], 1)
    by_rows = parts.layout in BY_ROWS
    nnz = parts.inner.shape[-1]
    own = owners_of(parts.index, nnz)
    other = parts.inner.long().reshape(own.shape)
    row, column = (own, other) if by_rows else (other, own)
    return row * columns + column


def to_dense(tensor: SparseTensor) -> Tensor:
    """The strided tensor, with history."""
    parts, values = parts_of(tensor), values_of(tensor)
    size, batch = tuple(tensor.shape), parts_of(tensor).index.dim() - 1
    block = block_size(tensor) or (1, 1)
    grid = grid_of(size, batch, block)
    count = math.prod(size[:batch])
    place = positions(tensor)
    base = hotaru.arange(count, device=place.device).unsqueeze(1)
    place = (place + base * (grid[0] * grid[1])).reshape(-1)
    flat = values.reshape(place.shape[0], *values.shape[batch + 1 :])
    zero = flat.new_zeros((count * grid[0] * grid[1], *flat.shape[1:]))
    # Added, as in PyTorch: -0 becomes 0.
    adds = flat.dtype != hotaru.bool
    dense = zero.index_put((place,), flat, accumulate=adds)
    if parts.layout not in BLOCKED:
        return dense.reshape(size)
    rest = size[batch + 2 :]
    dense = dense.reshape(count, *grid, *block, *rest)
    return dense.transpose(2, 3).reshape(size)


def gather_dense(source: Tensor, pattern: SparseTensor) -> Tensor:
    """The elements of a strided tensor where `pattern` has some: of the shape
    of its values.
    """
    parts = parts_of(pattern)
    size, batch = tuple(pattern.shape), parts.index.dim() - 1
    block = block_size(pattern) or (1, 1)
    grid = grid_of(size, batch, block)
    rest = size[batch + 2 :]
    place = positions(pattern)
    count = place.shape[0]
    cut = source.reshape(count, grid[0], block[0], grid[1], block[1], *rest)
    cut = cut.transpose(2, 3).reshape(count, grid[0] * grid[1], *block, *rest)
    base = hotaru.arange(place.shape[0], device=place.device).unsqueeze(1)
    return cut[base, place].reshape(parts.values.shape)


def blocked(dense: Tensor, layout, block: tuple[int, int], dims: int):
    """A strided matrix (batches of them) with `dims` dense dimensions behind,
    as `sparse_bsr` or `sparse_bsc`; blocks without elements are left out.
    """
    size, batch = tuple(dense.shape), dense.dim() - 2 - dims
    grid = grid_of(size, batch, block)
    rest, count = size[batch + 2 :], math.prod(size[:batch])
    cut = dense.reshape(count, grid[0], block[0], grid[1], block[1], *rest)
    cut = cut.transpose(2, 3)
    if layout not in BY_ROWS:
        cut = cut.transpose(1, 2)
    return _compress(cut, layout, size, batch, 2 + dims)


def plain(dense: Tensor, layout, dims: int) -> SparseTensor:
    """The same as `sparse_csr` or `sparse_csc`."""
    size, batch = tuple(dense.shape), dense.dim() - 2 - dims
    cut = dense.reshape(math.prod(size[:batch]), *size[batch:])
    if layout not in BY_ROWS:
        cut = cut.transpose(1, 2)
    return _compress(cut, layout, size, batch, dims)


def check_alike(counts: Tensor) -> None:
    if counts.numel() > 1 and not bool((counts == counts[0]).all()):
        raise RuntimeError("Expect the same number of specified elements per batch.")


def _compress(cut: Tensor, layout, size: tuple, batch: int, inside: int):
    """Keeps items with any element of (batch, outer, inner, inside...)."""
    if cut.shape[0] == 0:
        raise RuntimeError(
            f"to_{str(layout).partition('.')[2]}: Expected product of batch "
            "dimensions to be non-zero."
        )
    present = cut.detach() != 0
    if inside:
        present = present.flatten(3).any(-1)
    counts = present.sum((1, 2))
    check_alike(counts)
    place = present.nonzero()
    values = (
        cut[tuple(place.t())] if place.shape[0] else cut.new_zeros((0, *cut.shape[3:]))
    )
    lead = size[:batch]
    begins = present.sum(2).cumsum(1)
    begins = hotaru.cat([begins.new_zeros((begins.shape[0], 1)), begins], 1)
    nnz = int(counts[0]) if counts.numel() else 0
    parts = Parts(
        layout,
        begins.reshape(*lead, -1) if lead else begins.reshape(-1),
        place[:, 2].reshape(*lead, nnz).contiguous(),
        values.reshape(*lead, nnz, *cut.shape[3:]),
    )
    return build(parts, size)
