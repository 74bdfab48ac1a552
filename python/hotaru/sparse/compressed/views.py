"""Compressed tensors in another shape or order, and parts of them."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from ..._dims import wrap_dim
from ..._tensor.refusals import check_indices
from .. import compressed, coo
from .._kind import CSX
from ..checks import NO_STRIDES, NOT_CONTIGUOUS, wrap_place
from ..coo.select import spread
from ..history import linear
from ..tensor import BLOCKED, Parts, SparseTensor, build, is_sparse, parts_of, values_of
from .check import layout_text
from .convert import to_coo

_FLIPPED = {
    _C.sparse_csr: _C.sparse_csc,
    _C.sparse_csc: _C.sparse_csr,
    _C.sparse_bsr: _C.sparse_bsc,
    _C.sparse_bsc: _C.sparse_bsr,
}


@answers("transpose", "swapaxes", "swapdims", "transpose_copy", of=CSX)
def transpose(tensor: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    """Two dimensions exchanged. Of the two sparse ones: the same indices, but
    rows are columns now. Batch dimensions only among themselves.
    """
    dims, parts = tensor.dim(), parts_of(tensor)
    a, b = wrap_dim(dim0, dims), wrap_dim(dim1, dims)
    if compressed.dense_dims(tensor):
        raise RuntimeError(
            "transpose(): hybrid sparse compressed tensors with dense "
            "dimensions are not supported"
        )
    batch = parts.index.dim() - 1
    if (a < batch) != (b < batch):
        kinds = [f"{d}({'Batch' if d < batch else 'Sparse'})" for d in (a, b)]
        raise RuntimeError(
            "transpose(): can only transpose dimensions of the same type "
            f"(Batch, Sparse, Dense), got {kinds[0]} and {kinds[1]}"
        )
    made = linear(
        lambda x: _transposed(x, a, b), lambda grad: grad.transpose(a, b), tensor
    )
    return _view(tensor, made)


def _transposed(tensor: SparseTensor, a: int, b: int) -> SparseTensor:
    parts, size = parts_of(tensor), list(tensor.shape)
    if a == b:
        return build(parts, size)
    size[a], size[b] = size[b], size[a]
    layout, index, inner, values = parts
    batch = index.dim() - 1
    if a < batch:
        index, inner = index.transpose(a, b), inner.transpose(a, b)
        index, inner = index.contiguous(), inner.contiguous()
        values = values.transpose(a, b)
    else:
        layout = _FLIPPED[layout]
        if layout in BLOCKED:
            values = values.transpose(batch + 1, batch + 2)
    return build(Parts(layout, index, inner, values), size)


def _view(tensor: SparseTensor, made: SparseTensor) -> SparseTensor:
    """Says of `made` that its values are memory of `tensor`."""
    made.view_of = tensor if tensor._base is None else tensor._base
    return made


@answers("_is_view", of=CSX)
def _is_view(tensor: SparseTensor) -> bool:
    """Tells whether its values are memory of another tensor's."""
    return tensor._base is not None


@answers("t", "mT", "T", of=CSX)
def _turned(tensor: SparseTensor) -> SparseTensor:
    return transpose(tensor, -2, -1)


@answers("adjoint", "mH", "H", of=CSX)
def _adjoint(tensor: SparseTensor) -> SparseTensor:
    turned = transpose(tensor, -2, -1)
    return turned.conj() if turned.is_complex() else turned


@answers("transpose_", "t_", "swapaxes_", "swapdims_", of=CSX)
def transpose_(tensor: SparseTensor, *dims) -> SparseTensor:
    """Refused: rows would have to become columns in place."""
    raise RuntimeError(
        "torch.transpose_: in-place transposition is not supported for "
        f"{layout_text(tensor.layout)} layout"
    )


@answers("select", "select_copy", of=CSX)
def select(tensor: Tensor, dim: int, index: int) -> Tensor:
    """One item of a dimension. Of a sparse dimension the result has
    coordinates, and batches are refused.
    """
    parts, size = parts_of(tensor), list(tensor.shape)
    dim, index = wrap_place(tensor, dim, index)
    batch = parts.index.dim() - 1
    values = values_of(tensor)
    rest = size[:dim] + size[dim + 1 :]
    if dim < batch:
        cut = Parts(
            parts.layout,
            parts.index.select(dim, index).contiguous(),
            parts.inner.select(dim, index).contiguous(),
            values.select(dim, index),
        )
        return build(cut, rest)
    if dim >= batch + 2:
        own = dim - len(size)
        return build(parts._replace(values=values.select(own, index).clone()), rest)
    if batch:
        raise RuntimeError(
            "select(): selecting sparse dimensions is not supported for "
            "batched sparse compressed tensors."
        )
    return _selected(to_coo(tensor), dim, index)


def _selected(tensor: SparseTensor, dim: int, index: int) -> Tensor:
    """One item of a dimension with coordinates; strided if it was the last."""
    indices, values = parts_of(tensor).index, values_of(tensor)
    kept = (indices[dim] == index).nonzero().squeeze(1)
    values = values.index_select(0, kept)
    size = list(tensor.shape)
    if indices.shape[0] == 1:
        return coo.summed(values, hotaru.zeros_like(kept), 1)[0]
    others = [d for d in range(indices.shape[0]) if d != dim]
    found = coo.make(
        indices[others].index_select(1, kept), values, size[:dim] + size[dim + 1 :]
    )
    return coo.coalesce(found)


@answers("__getitem__", of=CSX)
def getitem(tensor: SparseTensor, key) -> Tensor:
    """Integers, between whole slices, which leave their dimensions."""
    keys = spread(tensor, key)
    check_indices(len(keys), tensor.dim())
    wanted = [k for k in keys if not _is_whole(k)]
    if not wanted or not all(map(_is_integer, wanted)):
        raise RuntimeError(NO_STRIDES)
    dim = 0
    for place, k in enumerate(keys):
        if _is_whole(k):
            dim += 1
            continue
        extent, k = tensor.shape[dim], int(k)
        if not -extent <= k < extent:
            raise IndexError(
                f"index {k} is out of bounds for dimension {place} with size {extent}"
            )
        if is_sparse(tensor) and tensor.is_sparse:
            tensor = _selected(tensor, dim, k % extent)
        else:
            tensor = tensor.select(dim, k)
    return tensor


def _is_whole(key) -> bool:
    return isinstance(key, slice) and key == slice(None)


def _is_integer(key) -> bool:
    return hasattr(key, "__index__") and not isinstance(key, (bool, Tensor))


@answers("unbind", of=CSX)
def unbind(tensor: SparseTensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The items of a dimension."""
    extent = tensor.shape[wrap_dim(dim, tensor.dim())]
    return tuple(select(tensor, dim, i) for i in range(extent))


@answers("__iter__", of=CSX)
def iterate(tensor: SparseTensor):
    """The items of the first dimension, in turn."""
    return iter(unbind(tensor))


@answers("__len__", of=CSX)
def length(tensor: SparseTensor) -> int:
    """The size of the first dimension."""
    return tensor.shape[0]


@answers("to", of=CSX)
def to(tensor: SparseTensor, *args, **kwargs) -> SparseTensor:
    """The tensor in another dtype or on another device; without elements on
    `meta`.
    """
    parts, values = parts_of(tensor), values_of(tensor)
    moved = values.to(*args, **kwargs)
    if moved is values:
        return tensor
    device = moved.device
    if moved.is_meta and not values.is_meta:
        return hotaru.zeros_like(tensor, dtype=moved.dtype, device=device)
    index, inner = (x.to(device) for x in (parts.index, parts.inner))
    return build(Parts(parts.layout, index, inner, moved), tensor.shape)


@answers("clone", of=CSX)
def clone(tensor: SparseTensor, *, memory_format=None) -> SparseTensor:
    """A copy of all parts, with history."""
    if memory_format not in (None, hotaru.preserve_format):
        raise RuntimeError(NOT_CONTIGUOUS)
    parts = parts_of(tensor)
    copied = Parts(
        parts.layout,
        parts.index.clone(),
        parts.inner.clone(),
        values_of(tensor).clone(),
    )
    return build(copied, tensor.shape)


@answers("values", of=CSX)
def values(tensor: SparseTensor) -> Tensor:
    """The values, with history; a view where the tensor itself is one."""
    found = values_of(tensor)
    return found if tensor._base is None else found.view_as(found)
