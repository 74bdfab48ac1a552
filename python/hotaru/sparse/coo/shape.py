"""Dimensions of tensors in coordinates: their order, and how many there are."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from ..._dims import check_distinct, moved_dims, wrap_dim
from .. import coo
from .._kind import COO
from ..history import linear
from ..tensor import SparseTensor, is_sparse, parts_of, values_of


@answers("permute", of=COO)
def permute(tensor: SparseTensor, *order, dims=None) -> SparseTensor:
    """Dimensions in another order: sparse ones first."""
    dims = order if dims is None else (dims,)
    if len(dims) == 1 and not isinstance(dims[0], int):
        dims = tuple(dims[0])
    if len(dims) != tensor.dim():
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input "
            "does not match the length of the desired ordering of dimensions "
            f"i.e. input.dim() = {tensor.dim()} is not equal to len(dims) = "
            f"{len(dims)}"
        )
    order = [wrap_dim(d, tensor.dim()) for d in dims]
    check_distinct(order, RuntimeError)
    sparse = coo.sparse_dims(tensor)
    if any(d >= sparse for d in order[:sparse]):
        raise RuntimeError(
            "permute(sparse_coo): transpositions between sparse and dense "
            "dimensions are not allowed.Only transpositions within sparse and "
            "dense dimensions are supported."
        )
    made = _reordered(tensor, order)
    # Said to be coalesced only where PyTorch says so.
    if not dims or dims[0] != 0:
        _C._set_sparse_coalesced(made, False)
    return made


@answers("movedim", "moveaxis", of=COO)
def movedim(tensor: SparseTensor, source, destination) -> SparseTensor:
    """Dimensions at other places, the others in their order."""
    return permute(tensor, *moved_dims(source, destination, tensor.dim()))


def _reordered(tensor: SparseTensor, order: list[int]) -> SparseTensor:
    inverse = [order.index(d) for d in range(len(order))]
    return linear(lambda x: _in_order(x, order), lambda g: g.permute(inverse), tensor)


def _in_order(tensor: SparseTensor, order: list[int]) -> SparseTensor:
    indices, values = parts_of(tensor).index, values_of(tensor)
    sparse = indices.shape[0]
    dense = [d - sparse + 1 for d in order[sparse:]]
    if order[:sparse] != list(range(sparse)):
        indices = indices[order[:sparse]]
    if dense != sorted(dense):
        values = values.permute(0, *dense)
    # Sorted by the first dimension they may stay, as PyTorch assumes.
    kept = order[:sparse] == list(range(sparse))
    coalesced = _C._sparse_coalesced(tensor) and (
        kept or indices.shape[1] < 2 or _stays_sorted(order, indices, tensor)
    )
    size = [tensor.shape[d] for d in order]
    return coo.make(indices, values, size, coalesced)


def _stays_sorted(order, indices: Tensor, tensor: SparseTensor) -> bool:
    if order[0] != 0:
        return False
    size = [tensor.shape[d] for d in order]
    flat = coo.flat_index(indices, size)
    return bool((flat[1:] > flat[:-1]).all())


@answers("transpose", "swapaxes", "swapdims", of=COO)
def transpose(tensor: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    """Two sparse dimensions, or two dense ones, in the other's place."""
    a, b = wrap_dim(dim0, tensor.dim()), wrap_dim(dim1, tensor.dim())
    sparse = coo.sparse_dims(tensor)
    if (a < sparse) != (b < sparse):
        raise RuntimeError(
            "sparse transpose: transposed dimensions must be sparse Got "
            f"sparse_dim: {sparse}, d0: {a}, d1: {b}"
        )
    order = list(range(tensor.dim()))
    if order:
        order[a], order[b] = order[b], order[a]
    return _reordered(tensor, order)


@answers("t", of=COO)
def t(tensor: SparseTensor) -> SparseTensor:
    """A matrix with rows as columns; fewer dimensions as they are."""
    sparse = coo.sparse_dims(tensor)
    if sparse > 2 or tensor.dim() != sparse:
        raise RuntimeError(
            "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but "
            f"got {sparse} sparse and {tensor.dim() - sparse} dense dimensions"
        )
    return _reordered(tensor, list(range(sparse))[::-1])


@answers("T", "mT", of=COO)
def _turned(tensor: SparseTensor) -> SparseTensor:
    if tensor.dim() < 2:
        return tensor
    return transpose(tensor, -2, -1)


@answers("H", "mH", "adjoint", of=COO)
def _adjoint(tensor: SparseTensor) -> SparseTensor:
    turned = _turned(tensor)
    return turned.conj() if tensor.is_complex() else turned


@answers("unsqueeze", of=COO)
def unsqueeze(tensor: SparseTensor, dim: int) -> SparseTensor:
    """One more dimension of size 1; sparse up to where dense ones begin."""
    dim = wrap_dim(dim, tensor.dim() + 1)
    return linear(lambda x: _unsqueezed(x, dim), lambda g: g.select(dim, 0), tensor)


def _unsqueezed(tensor: SparseTensor, dim: int) -> SparseTensor:
    indices, values = parts_of(tensor).index, values_of(tensor)
    size = [*tensor.shape[:dim], 1, *tensor.shape[dim:]]
    if dim > indices.shape[0]:
        values = values.unsqueeze(dim - indices.shape[0] + 1)
    else:
        new = indices.new_zeros((1, indices.shape[1]))
        indices = hotaru.cat([indices[:dim], new, indices[dim:]])
    return coo.make(indices, values, size, _C._sparse_coalesced(tensor))


@answers("_sparse_broadcast_to", "broadcast_to", of=COO)
def _sparse_broadcast_to(tensor: SparseTensor, size) -> SparseTensor:
    """Dimensions of size 1 repeated, and new ones in front, as broadcasting
    does: elements are copied.
    """
    size = tuple(size)
    new = len(size) - tensor.dim()
    old = (1,) * max(new, 0) + tuple(tensor.shape)
    if new < 0 or any(a != b and a != 1 for a, b in zip(old, size)):
        raise RuntimeError(
            "The expanded size of the tensor does not broadcast: "
            f"{list(tensor.shape)} does not broadcast to {list(size)}"
        )
    indices, values = parts_of(tensor).index, values_of(tensor)
    sparse = indices.shape[0] + new
    rows = [None] * new + list(indices)
    for d in range(sparse):
        if rows[d] is not None and old[d] == size[d]:
            continue
        # Each element once for every position along the dimension, which
        # comes last of what is sorted only where what is behind repeats, too.
        count = size[d]
        nnz = values.shape[0]
        place = hotaru.arange(count, device=values.device)
        rows = [r if r is None else r.repeat_interleave(count) for r in rows]
        rows[d] = place.repeat(nnz)
        values = values.repeat_interleave(count, 0)
    dense = size[sparse:]
    if tuple(values.shape[1:]) != dense:
        values = values.expand(values.shape[0], *dense)
    index = hotaru.stack(rows) if sparse else indices.new_zeros((0, values.shape[0]))
    made = coo.make(index, values, size)
    if not _C._sparse_coalesced(tensor) or index.shape[1] < 2:
        return made
    flat = coo.flat_index(index, size)
    if bool((flat[1:] > flat[:-1]).all()):
        _C._set_sparse_coalesced(made, True)
    return made


def _dense_at(i: int) -> RuntimeError:
    return RuntimeError(
        f"Concatenating sparse tensors, but a dense tensor was found at position {i}."
    )


def _check_joined(tensors, dim: int) -> None:
    first = tensors[0]
    for i, tensor in enumerate(tensors):
        if not is_sparse(tensor) or not tensor.is_sparse:
            raise _dense_at(i)
        dims = coo.sparse_dims(first), first.dim() - coo.sparse_dims(first)
        found = coo.sparse_dims(tensor), tensor.dim() - coo.sparse_dims(tensor)
        if dims != found:
            raise RuntimeError(
                "All tensors must have the same sparse_dim and dense_dim: "
                f"{dims[0]}, {dims[1]}, but tensor at position {i} has "
                f"{found[0]}, {found[1]}."
            )
        if any(
            a != b
            for d, (a, b) in enumerate(zip(first.shape, tensor.shape))
            if d != dim
        ):
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} "
                "(except in the concatenating dimension), but found shape: "
                f"{list(tensor.shape)} at position {i}."
            )


@answers("cat", "concat", "concatenate", of=COO)
def cat(tensors, dim: int = 0) -> SparseTensor:
    """One behind the other along a sparse or a dense dimension."""
    tensors = list(tensors)
    dim = wrap_dim(dim, tensors[0].dim())
    _check_joined(tensors, dim)
    sparse = coo.sparse_dims(tensors[0])
    indices, values, begin = [], [], 0
    total = sum(t.shape[dim] for t in tensors)
    for tensor in tensors:
        index, value = parts_of(tensor).index, values_of(tensor)
        if dim < sparse:
            index = index.clone()
            index[dim] += begin
        else:
            shape = list(value.shape)
            pads = []
            for width in (begin, total - begin - tensor.shape[dim]):
                shape[dim - sparse + 1] = width
                pads.append(value.new_zeros(shape))
            value = hotaru.cat([pads[0], value, pads[1]], dim - sparse + 1)
        indices.append(index)
        values.append(value)
        begin += tensor.shape[dim]
    size = list(tensors[0].shape)
    size[dim] = total
    return coo.make(hotaru.cat(indices, 1), hotaru.cat(values), size)


@answers("stack", of=COO)
def stack(tensors, dim: int = 0) -> SparseTensor:
    """One behind the other along a new dimension."""
    tensors = list(tensors)
    for i, tensor in enumerate(tensors):
        if not is_sparse(tensor):
            raise _dense_at(i)
    dim = wrap_dim(dim, tensors[0].dim() + 1)
    return cat([unsqueeze(t, dim) for t in tensors], dim)


@answers("reshape", "flatten", of=COO)
def _reshape(tensor: SparseTensor, *shape, **options):
    raise RuntimeError("reshape is not implemented for sparse tensors")


@answers("expand", "expand_as", of=COO)
def _expand(tensor: SparseTensor, *shape, **options):
    raise RuntimeError("expand is unsupported for Sparse tensors")
