"""Parts of tensors in coordinates."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from ..._dims import wrap_dim
from ..._tensor.refusals import check_iterable, length
from .. import coo
from .._kind import ANY, COO, unknown
from ..checks import wrap_place
from ..tensor import SparseTensor, parts_of, values_of
from .shape import unsqueeze


def _others(indices: Tensor, dim: int) -> Tensor:
    return hotaru.cat([indices[:dim], indices[dim + 1 :]])


def _shape_without(tensor: Tensor, dim: int) -> tuple[int, ...]:
    return (*tensor.shape[:dim], *tensor.shape[dim + 1 :])


@answers("select", "select_copy", of=COO)
def select(tensor: SparseTensor, dim: int, index: int) -> Tensor:
    """Takes one position of a dimension: sparse unless the dimension is the
    only sparse one.
    """
    if tensor.dim() == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, index = wrap_place(tensor, dim, index)
    indices, values = parts_of(tensor).index, values_of(tensor)
    sparse, size = indices.shape[0], _shape_without(tensor, dim)
    coalesced = _C._sparse_coalesced(tensor)
    if dim >= sparse:
        values = values.select(dim - sparse + 1, index)
        return coo.make(indices, values, size, coalesced)
    keep = (indices[dim] == index).nonzero().squeeze(1)
    values = values.index_select(0, keep)
    if sparse == 1:
        none = hotaru.zeros_like(keep)
        return coo.summed(values, none, 1).squeeze(0)
    kept = _others(indices, dim).index_select(1, keep)
    return coo.make(kept, values, size, coalesced)


@answers("index_select", of=COO)
def index_select(tensor: SparseTensor, dim: int, index: Tensor) -> SparseTensor:
    """The given positions of a dimension, which may count from the end."""
    if tensor.dim() == 0:
        raise IndexError("index_select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, tensor.dim())
    if index.dim() != 1 or index.dtype != _C.int64:
        raise IndexError(
            "index_select() argument index must be 1-D strided (non-sparse) "
            "long-tensor."
        )
    extent = tensor.shape[dim]
    wrong = (index < -extent) | (index >= extent)
    if bool(wrong.any()):
        raise IndexError(
            f"index_select(): index contains {index[wrong][0].item()} that is "
            f"out of range for tensor of size {list(tensor.shape)} at "
            f"dimension {dim}"
        )
    index = index % max(extent, 1)
    indices, values = parts_of(tensor).index, values_of(tensor)
    sparse, size = indices.shape[0], list(tensor.shape)
    size[dim] = index.shape[0]
    if dim >= sparse:
        values = values.index_select(dim - sparse + 1, index)
        return coo.make(indices, values, size, _C._sparse_coalesced(tensor))
    keys, order = indices[dim].sort(stable=True)
    asked, place = coo.matches(keys, index)
    place = order[place]
    found = indices.index_select(1, place)
    found[dim] = asked
    return coo.make(found, values.index_select(0, place), size)


@answers("narrow_copy", of=COO)
def narrow_copy(
    tensor: SparseTensor, dim: int, start: int, length: int
) -> SparseTensor:
    """The positions from `start` to `start + length` of a dimension."""
    if not 0 <= dim < tensor.dim():
        raise RuntimeError(
            f"Dimension {dim} out of range. Expecting 0 <= dim < {tensor.dim()}."
        )
    extent, end = tensor.shape[dim], start + length
    if length < 0 or not 0 <= start <= end <= extent:
        raise RuntimeError(
            "Invalid range to narrow. range(start, start+length) must be a "
            f"subset of range(0, {extent})."
        )
    indices, values = parts_of(tensor).index, values_of(tensor)
    sparse, size = indices.shape[0], list(tensor.shape)
    size[dim] = length
    coalesced = _C._sparse_coalesced(tensor)
    if dim >= sparse:
        values = values.narrow(dim - sparse + 1, start, length).clone()
        return coo.make(indices, values, size, coalesced)
    row = indices[dim]
    keep = ((row >= start) & (row < end)).nonzero().squeeze(1)
    indices = indices.index_select(1, keep)
    indices[dim] -= start
    return coo.make(indices, values.index_select(0, keep), size, coalesced)


def spread(tensor: Tensor, key) -> list:
    """The parts of an index: whole slices where `...` stands for some, and
    numbers for tensors of one.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    keys = [int(k) if _is_number(k) else k for k in keys]
    places = [i for i, k in enumerate(keys) if k is Ellipsis]
    if places:
        known = sum(k is not None and k is not Ellipsis for k in keys)
        whole = [slice(None)] * (tensor.dim() - known)
        keys[places[0] : places[0] + 1] = whole
    return keys


def _is_number(key) -> bool:
    return (
        isinstance(key, Tensor)
        and key.dim() == 0
        and not key.is_floating_point()
        and not key.is_complex()
        and key.dtype not in (_C.bool, _C.uint8)
    )


@answers("__getitem__", of=COO)
def item_at(tensor: SparseTensor, key) -> Tensor:
    """x[key] for integers, None and whole slices beside them: `select` and
    `unsqueeze` in turn.
    """
    keys = spread(tensor, key)
    alone = all(k == slice(None) for k in keys if not isinstance(k, Tensor))
    dim = 0
    for k in keys:
        if k is None:
            tensor = (
                unsqueeze(tensor, dim)
                if isinstance(tensor, SparseTensor)
                else tensor.unsqueeze(dim)
            )
            dim += 1
        elif isinstance(k, int) and not isinstance(k, bool):
            tensor = (
                select(tensor, dim, k)
                if isinstance(tensor, SparseTensor)
                else tensor.select(dim, k)
            )
        elif isinstance(k, slice) and k == slice(None) and not alone:
            dim += 1
        else:
            name = "index" if isinstance(k, Tensor) else "as_strided"
            raise unknown(name, (tensor,), {})
    return tensor


@answers("__setitem__", of=ANY)
def _set_item(tensor: Tensor, key, value):
    raise TypeError("Cannot assign to a sparse tensor")


@answers("unbind", of=COO)
def unbind(tensor: SparseTensor, dim: int = 0) -> tuple[Tensor, ...]:
    """`select` at each position of a dimension."""
    dim = wrap_dim(dim, tensor.dim())
    return tuple(select(tensor, dim, i) for i in range(tensor.shape[dim]))


@answers("__len__", of=COO)
def _length(tensor: SparseTensor) -> int:
    return length(tensor.shape)


@answers("__iter__", of=COO)
def _iterate(tensor: SparseTensor):
    check_iterable(tensor)
    return iter(unbind(tensor))
