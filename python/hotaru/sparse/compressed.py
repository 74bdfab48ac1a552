"""Compressed layouts: where rows (columns) begin, and the columns (rows)."""

from __future__ import annotations

import hotaru

from .._C import Tensor
from . import coo
from .tensor import (
    BLOCKED,
    BY_ROWS,
    Parts,
    SparseTensor,
    build,
    parts_of,
    values_of,
)


def offsets(rows: Tensor, count: int) -> Tensor:
    """(count + 1,): where each of `count` rows begins among sorted `rows`."""
    return hotaru.searchsorted(
        rows.contiguous(), hotaru.arange(count + 1, device=rows.device)
    )


def owners(index: Tensor) -> Tensor:
    """(nnz,): the row of each element, of (rows + 1,) offsets."""
    counts = index[1:] - index[:-1]
    return hotaru.repeat_interleave(
        hotaru.arange(counts.shape[0], device=index.device), counts
    )


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


def from_coo(tensor: SparseTensor, layout) -> SparseTensor:
    """A matrix in coordinates as `sparse_csr` or `sparse_csc`."""
    tensor = coo.coalesce(tensor)
    indices, values = parts_of(tensor).index, values_of(tensor)
    rows, columns = indices[0], indices[1]
    size = tuple(tensor.shape)
    if layout not in BY_ROWS:
        rows, columns = columns, rows
        order = rows.argsort(stable=True)
        rows, columns, values = rows[order], columns[order], values[order]
    count = size[0] if layout in BY_ROWS else size[1]
    parts = Parts(layout, offsets(rows, count), columns.contiguous(), values)
    return build(parts, size)


def to_coo(tensor: SparseTensor) -> SparseTensor:
    """A tensor of a compressed layout in coordinates, coalesced."""
    if parts_of(tensor).layout in BLOCKED or parts_of(tensor).index.dim() > 1:
        return coo.from_dense(
            to_dense(tensor), tensor.dim() - dense_dims(tensor)
        )
    parts, values = parts_of(tensor), values_of(tensor)
    rows, columns = owners(parts.index), parts.inner.long()
    if parts.layout not in BY_ROWS:
        order = columns.argsort(stable=True)
        rows, columns, values = columns[order], rows[order], values[order]
    return coo.make(hotaru.stack([rows, columns]), values, tensor.shape, True)


def positions(tensor: SparseTensor) -> Tensor:
    """(batch, nnz): where each element (block) is in a row-major matrix of
    elements (blocks).
    """
    parts = parts_of(tensor)
    size = tuple(tensor.shape)
    batch = parts.index.dim() - 1
    rows, columns = size[batch], size[batch + 1]
    block = block_size(tensor)
    if block:
        rows, columns = rows // block[0], columns // block[1]
    by_rows = parts.layout in BY_ROWS
    index = parts.index.long().reshape(-1, parts.index.shape[-1])
    inner = parts.inner.long().reshape(-1, parts.inner.shape[-1])
    found = []
    for begins, other in zip(index, inner):
        own = owners(begins)
        row, column = (own, other) if by_rows else (other, own)
        found.append(row * columns + column)
    del rows
    return hotaru.stack(found) if found else inner


def to_dense(tensor: SparseTensor) -> Tensor:
    """The strided tensor, with history."""
    parts, values = parts_of(tensor), values_of(tensor)
    size, batch = tuple(tensor.shape), parts_of(tensor).index.dim() - 1
    rows, columns = size[batch : batch + 2]
    block = block_size(tensor) or (1, 1)
    grid = (rows // block[0], columns // block[1])
    count = 1
    for extent in size[:batch]:
        count *= extent
    place = positions(tensor)
    base = hotaru.arange(count, device=place.device).unsqueeze(1)
    place = (place + base * (grid[0] * grid[1])).reshape(-1)
    flat = values.reshape(-1, *values.shape[batch + 1 :])
    dense = coo.summed(flat, place, count * grid[0] * grid[1])
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
    grid = (size[batch] // block[0], size[batch + 1] // block[1])
    rest = size[batch + 2 :]
    place = positions(pattern)
    cut = source.reshape(-1, grid[0], block[0], grid[1], block[1], *rest)
    cut = cut.transpose(2, 3).reshape(
        cut.shape[0], grid[0] * grid[1], *block, *rest
    )
    base = hotaru.arange(place.shape[0], device=place.device).unsqueeze(1)
    return cut[base, place].reshape(parts.values.shape)


def blocked(dense: Tensor, layout, block: tuple[int, int], dims: int):
    """A strided matrix (batches of them) with `dims` dense dimensions behind,
    as `sparse_bsr` or `sparse_bsc`; blocks without elements are left out.
    """
    size, batch = tuple(dense.shape), dense.dim() - 2 - dims
    grid = (size[batch] // block[0], size[batch + 1] // block[1])
    rest = size[batch + 2 :]
    cut = dense.reshape(-1, grid[0], block[0], grid[1], block[1], *rest)
    cut = cut.transpose(2, 3)
    if layout not in BY_ROWS:
        cut = cut.transpose(1, 2)
    return _compress(cut, layout, size, batch, 2 + dims)


def plain(dense: Tensor, layout, dims: int) -> SparseTensor:
    """The same as `sparse_csr` or `sparse_csc`."""
    size, batch = tuple(dense.shape), dense.dim() - 2 - dims
    cut = dense.reshape(-1, *size[batch:])
    if layout not in BY_ROWS:
        cut = cut.transpose(1, 2)
    return _compress(cut, layout, size, batch, dims)


def _compress(cut: Tensor, layout, size: tuple, batch: int, inside: int):
    """Of (batch, outer, inner, inside...): the items with any element."""
    present = cut.detach() != 0
    if inside:
        present = present.flatten(3).any(-1)
    counts = present.flatten(1).sum(1)
    if counts.numel() > 1 and not bool((counts == counts[0]).all()):
        raise RuntimeError(
            "Expect the same number of specified elements per batch."
        )
    place = present.nonzero()
    values = cut[tuple(place.t())] if place.shape[0] else cut.new_zeros(
        (0, *cut.shape[3:])
    )  # fmt: skip
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
