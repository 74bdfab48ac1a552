"""Products of compressed tensors with strided ones and with each other.

Nothing here makes a sparse factor strided: elements (or blocks) times the rows
that they meet are summed by row, all of them operators with derivatives.
"""

from __future__ import annotations

import math

import hotaru

from ... import _C
from ..._C import Tensor
from .. import compressed, coo
from ..tensor import BLOCKED, COMPRESSED, SparseTensor, is_sparse, parts_of
from . import convert as compressed_convert
from .convert import Entries

# Rows of these are bags of embeddings, whose kernel keeps no products.
_BAGGED = (hotaru.float32, hotaru.float64)
_WIDER = {"float16": "float32", "bfloat16": "float32"}


def wide(x: Tensor) -> Tensor:
    """Floats of 16 bits as 32: sums of many products need them."""
    name = _WIDER.get(str(x.dtype).partition(".")[2])
    return x if name is None else x.to(getattr(hotaru, name))


def sparse_dense(a: SparseTensor, b: Tensor) -> Tensor:
    """(batch..., n, p) of (batch..., n, m) @ (batch..., m, p), strided.

    Takes any compressed layout for `a`; the batches are equal or one has none.
    """
    if a.layout is _C.sparse_csc:
        a = compressed_convert.to_compressed(a, _C.sparse_csr, None, None)
    found, size = compressed_convert.entries(a), tuple(a.shape)
    lead, rows = size[:-2], size[-2]
    if b.dim() - 2 > len(lead) and not lead:
        return _wide_batch(a, b)
    count, width = math.prod(lead), b.shape[-1]
    if b.dim() == 2 and lead:
        b = b.expand(*lead, *b.shape)
    block = compressed.block_size(a) or (1, 1)
    grid = compressed.grid_of(size, len(lead), block)
    row, column = _across(found, count, grid)
    dtype = hotaru.promote_types(a.dtype, b.dtype)
    values = wide(found.values.to(dtype))
    values = values.reshape(row.shape[0], *block)
    side = wide(b.to(dtype))
    if a.layout is _C.sparse_csr and side.dtype in _BAGGED and width:
        begins = parts_of(a).index.long().reshape(count, rows + 1)[:, :-1]
        nnz = found.row.shape[1]
        begins = begins + nnz * hotaru.arange(count, device=begins.device).unsqueeze(1)
        made = hotaru.nn.functional.embedding_bag(
            column,
            side.reshape(count * grid[1], width),
            begins.reshape(-1),
            mode="sum",
            per_sample_weights=values.reshape(-1),
        )
        return made.reshape(*lead, rows, width).to(dtype)
    slabs = side.reshape(count * grid[1], block[1], width)
    met = slabs.index_select(0, column)
    terms = values * met if block == (1, 1) else hotaru.bmm(values, met)
    zero = terms.new_zeros((count * grid[0], block[0], width))
    total = zero.index_add(0, row, terms).reshape(*lead, rows, width)
    return total.to(dtype)


def _across(found: Entries, count: int, grid) -> tuple[Tensor, Tensor]:
    """Rows and columns as if the batches were the blocks of a diagonal."""
    row, column = found.row, found.column
    if count != 1:
        batch = hotaru.arange(count, device=row.device).unsqueeze(1)
        row, column = row + batch * grid[0], column + batch * grid[1]
    return row.reshape(-1), column.reshape(-1)


def _wide_batch(a: SparseTensor, b: Tensor) -> Tensor:
    """One matrix times many: as one with more columns."""
    lead, (rows, width) = b.shape[:-2], b.shape[-2:]
    side = b.reshape(math.prod(lead), rows, width).permute(1, 0, 2)
    side = side.reshape(rows, math.prod(lead) * width)
    made = sparse_dense(a, side).reshape(a.shape[0], math.prod(lead), width)
    return made.permute(1, 0, 2).reshape(*lead, a.shape[0], width)


def dense_sparse(a: Tensor, b: SparseTensor) -> Tensor:
    """The same with the strided factor before the sparse one."""
    from .views import transpose

    made = sparse_dense(transpose(b, -2, -1), a.transpose(-2, -1))
    return made.transpose(-2, -1)


def sparse_sparse(a: SparseTensor, b: SparseTensor, layout) -> SparseTensor:
    """The product of two sparse matrices, in `layout`: `sparse_csr` or
    `sparse_csc`. Work and memory grow with the number of products.
    """
    left, right = _by_rows(a), _by_rows(b)
    begins = parts_of(right).index.long()
    size = (a.shape[0], b.shape[1])
    mine = compressed_convert.entries(left)
    row, column, values = (x[0] for x in mine)
    counts = (begins[1:] - begins[:-1]).index_select(0, column)
    which = hotaru.arange(counts.shape[0], device=counts.device)
    which = which.repeat_interleave(counts)
    ends = counts.cumsum(0)
    inside = hotaru.arange(which.shape[0], device=which.device)
    inside = inside - (ends - counts).index_select(0, which)
    other = begins.index_select(0, column.index_select(0, which)) + inside
    theirs = compressed_convert.entries(right)
    dtype = hotaru.promote_types(a.dtype, b.dtype)
    terms = wide(values.to(dtype)).index_select(0, which) * wide(
        theirs.values[0].to(dtype)
    ).index_select(0, other)
    width = max(size[1], 1)
    place = row.index_select(0, which) * width
    place = place + theirs.column[0].index_select(0, other)
    found, group = place.unique(return_inverse=True)
    total = coo.summed(terms, group, found.shape[0]).to(dtype)
    made = Entries(
        (found // width).unsqueeze(0), (found % width).unsqueeze(0), total.unsqueeze(0)
    )
    kinds = {parts_of(x).index.dtype for x in (left, right)}
    index_dtype = kinds.pop() if len(kinds) == 1 else hotaru.int64
    return compressed_convert.assemble(made, layout, (), size, index_dtype)


def _by_rows(matrix: SparseTensor) -> SparseTensor:
    if matrix.layout in COMPRESSED and matrix.layout not in BLOCKED:
        return matrix.to_sparse_csr()
    return matrix.to_sparse_coo().to_sparse_csr()


def product(a: Tensor, b: Tensor, layout=None) -> Tensor:
    """The product of two matrices of which one is compressed: strided if the
    other is or if `layout` says so, else in `layout`, `sparse_csr` by default.
    """
    if not is_sparse(b):
        return sparse_dense(a, b)
    if not is_sparse(a):
        if not b.is_sparse:
            return dense_sparse(a, b)
        return dense_sparse(a, b.to_sparse_csr())
    return sparse_sparse(a, b, hotaru.sparse_csr if layout is None else layout)
