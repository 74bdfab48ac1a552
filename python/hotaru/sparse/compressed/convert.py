"""Between compressed layouts and others, without strided tensors between."""

from __future__ import annotations

import math
from typing import NamedTuple

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from .. import compressed, coo
from .._kind import ANY
from ..checks import check_blocksize
from ..tensor import (
    BLOCKED,
    BY_ROWS,
    Parts,
    SparseTensor,
    build,
    is_sparse,
    parts_of,
    values_of,
)
from .check import layout_text


class Entries(NamedTuple):
    """The elements (blocks) of each batch: `row`, `column` and `order` are
    (batches, nnz), `values` (batches, nnz, [block], dense...), with history.
    """

    row: Tensor
    column: Tensor
    values: Tensor


def entries(tensor: SparseTensor) -> Entries:
    """Entries of a compressed tensor, with 64 bit indices of elements or
    blocks.
    """
    parts, values = parts_of(tensor), values_of(tensor)
    lead = parts.index.shape[:-1]
    own = compressed.owners_of(parts.index, parts.inner.shape[-1])
    other = parts.inner.long().reshape(own.shape)
    row, column = (own, other) if parts.layout in BY_ROWS else (other, own)
    flat = values.reshape(math.prod(lead), *values.shape[len(lead) :])
    return Entries(row, column, flat)


def offsets_of(outer: Tensor, count: int) -> Tensor:
    """(batches, count + 1): where each of `count` rows begins, of the rows
    (batches, nnz) of the elements.
    """
    zero = outer.new_zeros((outer.shape[0], count + 1))
    return zero.scatter_add(1, outer + 1, hotaru.ones_like(outer)).cumsum(1)


def assemble(found: Entries, layout, lead, size, dtype) -> SparseTensor:
    """A tensor of elements in any order, each place once.

    Args:
        lead: the batch dimensions.
        size: the shape of the tensor.
        dtype: that of the indices.
    """
    lead = tuple(lead)
    block = (1, 1)
    if layout in BLOCKED:
        block = tuple(found.values.shape[2:4])
    grid = compressed.grid_of(tuple(size), len(lead), block)
    outer, inner, count, extent = found.row, found.column, *grid
    if layout not in BY_ROWS:
        outer, inner, count, extent = inner, outer, extent, count
    order = (outer * max(extent, 1) + inner).argsort(dim=1, stable=True)
    nnz = outer.shape[1]
    values = found.values
    if values.shape[0] == 1:
        values = values[0].index_select(0, order[0])
    else:
        batch = hotaru.arange(order.shape[0], device=order.device)
        values = values[batch.unsqueeze(1), order]
    parts = Parts(
        layout,
        offsets_of(outer, count).to(dtype).reshape(*lead, count + 1),
        inner.gather(1, order).to(dtype).reshape(*lead, nnz),
        values.reshape(*lead, nnz, *found.values.shape[2:]),
    )
    return build(parts, size)


def to_coo(tensor: SparseTensor) -> SparseTensor:
    """The tensor in coordinates: elements of blocks one by one, batches as
    leading coordinates. Coalesced if the elements come in that order.
    """
    parts, found = parts_of(tensor), entries(tensor)
    row, column, values = found
    lead, size = tuple(parts.index.shape[:-1]), tuple(tensor.shape)
    batches, nnz = row.shape
    if parts.layout in BLOCKED:
        height, width = compressed.block_size(tensor)
        down = hotaru.arange(height, device=row.device).view(-1, 1)
        right = hotaru.arange(width, device=row.device)
        row = row.view(batches, nnz, 1, 1) * height + down
        column = column.view(batches, nnz, 1, 1) * width + right
        row, column = hotaru.broadcast_tensors(row, column)
        nnz *= height * width
    batch = hotaru.arange(batches, device=row.device).repeat_interleave(nnz)
    indices = hotaru.cat(
        [coo.unflat_index(batch, lead), row.reshape(1, -1), column.reshape(1, -1)]
    )
    values = values.reshape(batches * nnz, *size[len(lead) + 2 :])
    return coo.make(indices, values, size, parts.layout is _C.sparse_csr)


def _refuse(what: str, source, layout, why: str) -> None:
    raise RuntimeError(
        f"{what}: conversion from {layout_text(source)} to {layout_text(layout)} {why}"
    )


def to_compressed(tensor: Tensor, layout, blocksize, dense_dim) -> Tensor:
    """The tensor in a compressed layout: itself if it has that already.

    Raises RuntimeError where sizes are not multiples of the blocks', where
    batches have different numbers of elements, and for what PyTorch does not
    convert: blocks into other blocks or into none, dense dimensions of a
    tensor that is sparse already.
    """
    source = tensor.layout
    what = "dense_to_sparse"
    if source is layout:
        what = "to_sparse"
    elif is_sparse(tensor):
        coordinates = source is _C.sparse_coo
        what = f"sparse_{'coo' if coordinates else 'compressed'}_to_sparse"
    if layout in BLOCKED and blocksize is None:
        _refuse(
            what, source, layout, "without blocksize argument given is not supported"
        )
    if is_sparse(tensor) and dense_dim is not None:
        _refuse(what, source, layout, "with dense_dim argument given is not supported")
    _check_blocks(tensor, what, layout, blocksize)
    if source is _C.strided:
        return _of_dense(tensor, layout, blocksize, dense_dim or 0)
    if source is layout:
        return tensor
    if source is _C.sparse_coo:
        return _of_coordinates(tensor, layout, blocksize)
    return _of_compressed(tensor, layout, blocksize)


def _check_blocks(tensor: Tensor, what: str, layout, blocksize) -> None:
    source = tensor.layout
    if source in BLOCKED:
        own = compressed.block_size(tensor)
        if layout not in BLOCKED:
            raise RuntimeError(
                f"sparse_compressed_to_{str(layout).partition('.')[2]}: "
                "expected SparseCsr or SparseCsc layout but got "
                f"{layout_text(source)}"
            )
        if tuple(blocksize) != own:
            change = f"{list(own)} to {list(blocksize)}"
            _refuse(
                what,
                source,
                layout,
                f"with blocksize changed from {change} is not supported",
            )
        return
    if layout not in BLOCKED:
        return
    check_blocksize(what, blocksize)
    if min(blocksize) <= 0:
        raise RuntimeError(
            f"{what}: blocksize needs to be positive, but got {list(blocksize)}"
        )


def _check_divisible(what: str, rows: int, columns: int, block) -> None:
    if rows % block[0] or columns % block[1]:
        raise RuntimeError(
            f"{what}: tensor sparse size ({rows},{columns}) must be divisible "
            f"by given blocksize ({block[0]},{block[1]})"
        )


def _of_dense(tensor: Tensor, layout, blocksize, dense_dim: int) -> Tensor:
    top = tensor.dim() - 2
    if not 0 <= dense_dim <= max(top, 0):
        raise RuntimeError(
            f"dense_to_sparse: dense_dim argument must be in [0,{top}] range, "
            f"but {dense_dim} is given"
        )
    if top < 0:
        raise IndexError(
            "dense_to_sparse: a compressed layout needs at least 2 dimensions, "
            f"but the tensor has {tensor.dim()}"
        )
    if layout not in BLOCKED:
        if blocksize is not None:
            if len(blocksize) != 2:
                raise RuntimeError(
                    "dense_to_sparse: blocksize needs to be a tuple of size 2,"
                    f" but got {len(blocksize)}"
                )
            _refuse(
                "dense_to_sparse",
                _C.strided,
                layout,
                "with blocksize argument given is not supported",
            )
        return compressed.plain(tensor, layout, dense_dim)
    batch = top - dense_dim
    rows, columns = tensor.shape[batch : batch + 2]
    _check_divisible("dense_to_sparse", rows, columns, blocksize)
    return compressed.blocked(tensor, layout, tuple(blocksize), dense_dim)


def _of_coordinates(tensor: SparseTensor, layout, blocksize) -> SparseTensor:
    if coo.sparse_dims(tensor) != 2:
        _refuse(
            "sparse_coo_to_sparse",
            _C.sparse_coo,
            layout,
            "for input tensors with sparse_dim()!=2 is not supported",
        )
    tensor = coo.coalesce(tensor)
    indices = parts_of(tensor).index
    found = Entries(*(x.unsqueeze(0) for x in (*indices, values_of(tensor))))
    size = tuple(tensor.shape)
    if layout in BLOCKED:
        return _into_blocks(
            "sparse_coo_to_sparse", found, layout, size, blocksize, hotaru.int64
        )
    return assemble(found, layout, (), size, hotaru.int64)


def _of_compressed(tensor: SparseTensor, layout, blocksize) -> SparseTensor:
    parts, size = parts_of(tensor), tuple(tensor.shape)
    lead = parts.index.shape[:-1]
    found = entries(tensor)
    if layout not in BLOCKED or parts.layout in BLOCKED:
        return assemble(found, layout, lead, size, parts.index.dtype)
    if len(lead):
        _refuse(
            f"sparse_compressed_to_{str(layout).partition('.')[2]}",
            parts.layout,
            layout,
            "for batched inputs is not supported",
        )
    return _into_blocks(
        "sparse_compressed_to_sparse", found, layout, size, blocksize, parts.index.dtype
    )


def _into_blocks(what, found: Entries, layout, size, block, dtype):
    _check_divisible(what, size[0], size[1], block)
    row, column, values = (x[0] for x in found)
    across = size[1] // block[1]
    place = (row // block[0]) * across + column // block[1]
    present, which = place.unique(return_inverse=True)
    inside = (which * block[0] + row % block[0]) * block[1] + column % block[1]
    count = present.shape[0]
    rest = values.shape[1:]
    made = values.new_zeros((count * block[0] * block[1], *rest))
    made = made.index_put((inside,), values).reshape(1, count, *block, *rest)
    across = max(across, 1)
    places = (present // across).unsqueeze(0), (present % across).unsqueeze(0)
    return assemble(Entries(*places, made), layout, (), size, dtype)


@answers("_convert_indices_from_csr_to_coo", of=ANY)
def _convert_indices_from_csr_to_coo(
    crow_indices, col_indices, *, out_int32=False, transpose=False, out=None
) -> Tensor:
    """(batch dims + 2, elements): coordinates of the elements of a tensor
    compressed by rows (by columns with `transpose`).
    """
    dtype = hotaru.int32 if out_int32 else hotaru.int64
    lead, nnz = tuple(crow_indices.shape[:-1]), col_indices.shape[-1]
    own = compressed.owners_of(crow_indices, nnz)
    other = col_indices.long().reshape(own.shape)
    batch = hotaru.arange(own.shape[0], device=own.device)
    batch = coo.unflat_index(batch.repeat_interleave(nnz), lead)
    pair = (other, own) if transpose else (own, other)
    made = hotaru.cat([batch, *(x.reshape(1, -1) for x in pair)]).to(dtype)
    return made if out is None else out.resize_(made.shape).copy_(made)


@answers("_convert_indices_from_coo_to_csr", of=ANY)
def _convert_indices_from_coo_to_csr(
    input, size: int, *, out_int32=False, out=None
) -> Tensor:
    """(size + 1,): where each row begins, of the sorted rows of elements."""
    if input.dim() != 1:
        raise RuntimeError(
            "Input is supposed to be a vector, but got "
            f"{input.dim()} dimensional tensor."
        )
    dtype = hotaru.int32 if out_int32 else hotaru.int64
    made = offsets_of(input.long().unsqueeze(0), size)[0].to(dtype)
    return made if out is None else out.resize_(made.shape).copy_(made)
