"""Compressed tensors written and resized in place."""

from __future__ import annotations

import math

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from ..._tensor.refusals import check_written
from .. import compressed
from .._kind import CSX
from ..inplace import replace
from ..tensor import BY_ROWS, Parts, SparseTensor, build, parts_of
from .check import layout_text, require_compressed


@answers("resize_", "sparse_resize_", of=CSX)
def resize_(tensor: SparseTensor, *size, memory_format=None) -> SparseTensor:
    """Another size, in place; elements of rows that go are gone.

    Raises RuntimeError for fewer columns, and for layouts but `sparse_csr`.
    """
    if len(size) == 1 and not isinstance(size[0], int):
        size = size[0]
    size, parts = tuple(size), parts_of(tensor)
    if parts.layout is not _C.sparse_csr or len(size) < 2:
        raise RuntimeError(
            "torch.resize_: Only batched sparse CSR matrices are supported, "
            f"but got size {list(size)}"
        )
    old = tensor.shape[-1]
    if size[-1] < old:
        raise RuntimeError(
            "torch.resize_: Resizing columns of sparse CSR tensors to a "
            "smaller value is not supported. The original number of columns is "
            f"{old} while the requested new number of columns is {size[-1]}."
        )
    lead, rows = size[:-2], size[-2]
    nnz = min(parts.values.shape[-1], rows * size[-1])
    index = parts.index.new_zeros((*lead, rows + 1))
    kept = min(rows, parts.index.shape[-1] - 1) + 1
    index[..., :kept] = _with_lead(parts.index[..., :kept], lead)
    index[..., kept:] = index[..., kept - 1 : kept]
    index = index.clamp(max=nnz)
    index[..., -1] = nnz
    inner, values = (
        _with_lead(x[..., :nnz], lead) for x in (parts.inner, parts.values)
    )
    _C._set_sparse_parts(tensor, size, index, inner, values, False)
    return tensor


def _with_lead(part: Tensor, lead: tuple) -> Tensor:
    """(lead..., n) of (batch..., n): items in their order, else zeros."""
    last, count = part.shape[-1], math.prod(lead)
    flat = part.reshape(math.prod(part.shape[:-1]), last)[:count]
    if flat.shape[0] < count:
        more = flat.new_zeros((count - flat.shape[0], last))
        flat = hotaru.cat([flat, more])
    return flat.reshape(*lead, last).contiguous()


@answers("resize_as_sparse_", of=CSX)
def resize_as_sparse_(tensor: Tensor, source: Tensor) -> Tensor:
    """The size and the number of elements of another tensor, in place; what
    the elements are is not told, unless there are as many.
    """
    require_compressed(tensor.layout, "resize_as_sparse_compressed_: self ")
    require_compressed(source.layout, "resize_as_sparse_compressed_: src ")
    if tensor.layout is not source.layout:
        raise RuntimeError(
            "resize_as_sparse_compressed_tensor_: self and src must have the "
            f"same layout, but got: self ({layout_text(tensor.layout)}) and "
            f"source ({layout_text(source.layout)})"
        )
    mine, other = parts_of(tensor), parts_of(source)
    values = mine.values
    if values.shape != other.values.shape:
        values = values.new_empty(tuple(other.values.shape))
    _C._set_sparse_parts(
        tensor,
        tuple(source.shape),
        other.index.to(mine.index.dtype, copy=True),
        other.inner.to(mine.inner.dtype, copy=True),
        values,
        False,
    )
    return tensor


@answers("copy_", of=CSX)
def copy_(tensor: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """The elements of a tensor of the same layout with as many of them."""
    require_compressed(tensor.layout, "copy_sparse_compressed_")
    if tensor.layout is not source.layout:
        raise RuntimeError(
            "torch.copy_: copy of sparse compressed tensors having different "
            "layouts is not supported. "
            f"self layout is {layout_text(tensor.layout)} and src layout is "
            f"{layout_text(source.layout)}"
        )
    if tensor._nnz() != source._nnz():
        raise RuntimeError(
            "torch.copy_: only sparse compressed tensors with the same number "
            "of specified elements are supported."
        )
    batch = parts_of(tensor).index.dim() - 1
    outer = batch if tensor.layout in BY_ROWS else batch + 1
    if tensor.dim() != source.dim() or (tensor.shape[outer] != source.shape[outer]):
        raise RuntimeError(
            "torch.copy_: expected shapes of self and src to match along "
            f"dimension {outer} for {layout_text(tensor.layout)} layout but "
            "the corresponding dimensions of self and src are "
            f"{tensor.shape[outer]} and {source.shape[outer]}, respectively."
        )
    mine, other = (compressed.block_size(x) for x in (tensor, source))
    if mine != other:
        raise RuntimeError(
            "torch.copy_: copy of sparse compressed tensors having different "
            f"block sizes is not supported. self and src block sizes are "
            f"{list(mine)} and {list(other)}, respectively."
        )
    check_written(tensor)
    own, parts = parts_of(tensor), parts_of(source)
    copied = Parts(
        parts.layout,
        parts.index.to(own.index.dtype, copy=True),
        parts.inner.to(own.inner.dtype, copy=True),
        parts.values.clone(),
    )
    return replace(tensor, build(copied, source.shape).detach())


@answers("zero_", of=CSX)
def zero_(tensor: SparseTensor) -> SparseTensor:
    """No elements, in place."""
    check_written(tensor)
    return replace(tensor, hotaru.zeros_like(tensor.detach()))
