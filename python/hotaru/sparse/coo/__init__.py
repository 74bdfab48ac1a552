"""Tensors in coordinates: indices (sparse_dim, nnz), values (nnz, dense...)."""

from __future__ import annotations

import math

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from ..._tensor.sparse_names import expected
from .._kind import ANY
from ..history import linear
from ..tensor import Parts, SparseTensor, build, parts_of, values_of


def make(indices: Tensor, values: Tensor, size, coalesced=False) -> Tensor:
    """A tensor in coordinates, unchecked, with the history of the values.

    Coalesced if it is said to be, or has at most one element.
    """
    parts = Parts(_C.sparse_coo, indices, None, values)
    return build(parts, size, coalesced or indices.shape[1] < 2)


def empty(size, sparse_dim: int, **options) -> SparseTensor:
    """Without elements: all zeros of `size`, with `sparse_dim` dimensions that
    have indices; `options` are the dtype and the device.
    """
    size = tuple(size)
    device = options.get("device")
    indices = hotaru.empty((sparse_dim, 0), dtype=hotaru.int64, device=device)
    values = hotaru.empty((0, *size[sparse_dim:]), **options)
    return make(indices, values, size, True)


def each_once(tensor: SparseTensor, values: Tensor) -> SparseTensor:
    """Coalesced at the tensor's indices, with one of the `values` of equal
    ones (not their sum).
    """
    indices = parts_of(tensor).index
    size = tuple(tensor.shape)[: indices.shape[0]]
    found, group = flat_index(indices, size).unique(return_inverse=True)
    place = hotaru.empty_like(found).index_copy_(
        0, group, hotaru.arange(group.shape[0], device=group.device)
    )
    return make(unflat_index(found, size), values[place], tensor.shape, True)


def matches(keys: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """All pairs (i, j) for which wanted[i] == keys[j], by i, then j; the keys
    are sorted.
    """
    low = hotaru.searchsorted(keys, wanted)
    counts = hotaru.searchsorted(keys, wanted, right=True) - low
    asked = hotaru.repeat_interleave(
        hotaru.arange(wanted.shape[0], device=keys.device), counts
    )
    begin = counts.cumsum(0) - counts
    place = hotaru.arange(asked.shape[0], device=keys.device)
    return asked, place + (low - begin)[asked]


def sparse_dims(tensor: SparseTensor) -> int:
    """How many leading dimensions have indices."""
    return parts_of(tensor).index.shape[0]


def flat_index(indices: Tensor, size) -> Tensor:
    """(nnz,): the position of each column of indices in a row-major order of
    the leading dimensions of `size`.
    """
    dims = indices.shape[0]
    if dims == 0:
        return indices.new_zeros(indices.shape[1])
    flat = indices[0]
    for d in range(1, dims):
        flat = flat * size[d] + indices[d]
    return flat


def unflat_index(flat: Tensor, size) -> Tensor:
    """The inverse of `flat_index`: (len(size), nnz)."""
    if not size:
        return flat.new_zeros((0, flat.shape[0]))
    rows = []
    for extent in reversed(size):
        rows.append(flat % max(extent, 1))
        flat = flat.div(max(extent, 1), rounding_mode="floor")
    return hotaru.stack(rows[::-1])


def summed(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """(groups, ...): the sum of the values of each group; any() of bools."""
    if values.dtype == hotaru.bool:
        return summed(values.to(hotaru.uint8), group, groups) != 0
    if values.dtype == hotaru.complex32:  # as `index_add` has no code for it
        whole = summed(values.to(hotaru.complex64), group, groups)
        return whole.to(values.dtype)
    zero = values.new_zeros((groups, *values.shape[1:]))
    return zero.index_add(0, group, values)


def check_coordinates(tensor: SparseTensor, what: str) -> None:
    if not tensor.is_sparse:
        raise expected(what, "sparse coordinate tensor", tensor.layout)


@answers("coalesce", of=ANY)
def coalesce(tensor: SparseTensor) -> SparseTensor:
    """The same with sorted indices, each once: values of equal ones add up."""
    check_coordinates(tensor, "coalesce")
    if _C._sparse_coalesced(tensor):
        return tensor
    return linear(_coalesced, lambda g: g, tensor)


def _coalesced(tensor: SparseTensor) -> SparseTensor:
    indices, values = parts_of(tensor).index, parts_of(tensor).values
    dims = indices.shape[0]
    size = tuple(tensor.shape)[:dims]
    if indices.shape[1] < 2:
        return make(indices.clone(), values.clone(), tensor.shape, True)
    found, group = flat_index(indices, size).unique(return_inverse=True)
    return make(
        unflat_index(found, size),
        summed(values, group, found.shape[0]),
        tensor.shape,
        True,
    )


def to_dense(tensor: SparseTensor) -> Tensor:
    """The strided tensor, with history."""
    indices, values = parts_of(tensor).index, values_of(tensor)
    dims = indices.shape[0]
    size = tuple(tensor.shape)
    flat = flat_index(indices, size)
    rows = math.prod(size[:dims])
    return summed(values, flat, rows).reshape(size)


def from_dense(dense: Tensor, dims: int | None = None) -> SparseTensor:
    """A tensor's elements other than 0 (of its leading `dims` dimensions, the
    parts with any), coalesced, with its history.
    """
    dims = dense.dim() if dims is None else dims
    present = dense.detach() != 0
    if dims < dense.dim():
        present = present.flatten(dims).any(-1)
    indices = present.nonzero().t().contiguous()
    if dense.dim() == 0:
        values = dense.reshape(1)[: indices.shape[1]]
    else:
        values = dense[tuple(indices)] if dims else dense.unsqueeze(0)
    return make(indices, values.clone(), dense.shape, True)
