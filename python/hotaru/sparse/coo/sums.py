"""Sums and differences with tensors in coordinates."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from .. import coo, inplace
from .._kind import COO
from ..history import linear
from ..tensor import is_sparse, parts_of, values_of, with_values

_SPARSE_FIRST = "add(sparse, dense) is not supported. Use add(dense, sparse) instead."


@answers("add", of=COO)
def add(a: Tensor, b: Tensor, *, alpha=1) -> Tensor:
    """A + alpha * b, sparse if `a` is; then `b` must be, too."""
    if is_sparse(a):
        if not is_sparse(b):
            raise RuntimeError(_SPARSE_FIRST)
        return _sparse(a, b, alpha)
    if not isinstance(a, Tensor):
        a = hotaru.tensor(a)
    _check_shape(a, b)
    kinds = a.dtype, b.dtype
    return linear(
        lambda x, y: _onto_strided(x, y, alpha),
        lambda g: (g.to(kinds[0]), _scaled(g, alpha).to(kinds[1])),
        a,
        b,
    )


def _scaled(tensor: Tensor, alpha) -> Tensor:
    return tensor if alpha == 1 else tensor * alpha


def _onto_strided(a: Tensor, b: Tensor, alpha) -> Tensor:
    dtype = hotaru.result_type(a, parts_of(b).values)
    flat, values = _elements(b, dtype, alpha)
    if values.numel() == 0:
        return a.to(dtype).clone()
    rows = a.to(dtype).reshape(-1, *values.shape[1:])
    return rows.index_add(0, flat, values).reshape(a.shape)


def _check_shape(a: Tensor, b: Tensor) -> None:
    if a.shape != b.shape:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same size, but self has "
            f"size {list(a.shape)} while other has size {list(b.shape)} (FYI: "
            "dense-sparse addition does not currently support broadcasting)"
        )


def _elements(tensor: Tensor, dtype, alpha) -> tuple[Tensor, Tensor]:
    indices, values = parts_of(tensor).index, values_of(tensor).to(dtype)
    flat = coo.flat_index(indices, tuple(tensor.shape))
    return flat, values if alpha == 1 else values * alpha


@answers("add_", of=COO)
def add_(a: Tensor, b: Tensor, *, alpha=1) -> Tensor:
    """The same in place; of a strided tensor, in its memory."""
    if is_sparse(a):
        return inplace.assign(a, add(a, b, alpha=alpha), in_place=True)
    _check_shape(a, b)
    inplace.check_cast(hotaru.result_type(a, parts_of(b).values), a)
    flat, values = _elements(b, a.dtype, alpha)
    if not values.numel():
        return a.add_(0)
    if values.dtype == hotaru.bool:
        return a.logical_or_(b.to_dense())
    if a.is_contiguous():
        a.view(-1, *values.shape[1:]).index_add_(0, flat, values)
        return a
    where = parts_of(b).index
    if not where.shape[0]:
        return a.add_(values.sum(0))
    return a.index_put_(tuple(where), values, accumulate=True)


def _sparse(a: Tensor, b: Tensor, alpha) -> Tensor:
    if a.shape != b.shape:
        raise RuntimeError(
            "add: expected sizes of 'self' and 'other' to match, but "
            f"{list(a.shape)} != {list(b.shape)}"
        )
    kinds = a.dtype, b.dtype
    return linear(
        lambda x, y: _joined(x, y, alpha),
        lambda g: (g.to(kinds[0]), _scaled(g, alpha).to(kinds[1])),
        a,
        b,
    )


def _joined(a: Tensor, b: Tensor, alpha) -> Tensor:
    dtype = hotaru.promote_types(a.dtype, b.dtype)
    if b._nnz() == 0:
        return a.to(dtype).clone()
    right = values_of(b).to(dtype)
    if alpha != 1:
        right = right * alpha
    if a._nnz() == 0:
        return with_values(b, right.clone())
    coalesced = _C._sparse_coalesced(a) and _C._sparse_coalesced(b)
    mine, others = parts_of(a).index, parts_of(b).index
    if mine.shape[0] != others.shape[0]:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same density, but "
            f"'self' has {mine.shape[0]} sparse dimensions while 'other' has "
            f"{others.shape[0]} sparse dimensions"
        )
    left = values_of(a).to(dtype)
    if mine is others or (mine.shape == others.shape and hotaru.equal(mine, others)):
        return coo.make(mine, left + right, a.shape, coalesced)
    both = coo.make(hotaru.cat([mine, others], 1), hotaru.cat([left, right]), a.shape)
    return coo.coalesce(both) if coalesced else both


@answers("sub", "subtract", of=COO)
def sub(a: Tensor, b: Tensor, *, alpha=1) -> Tensor:
    """A - alpha * b, as `add`."""
    return add(a, b, alpha=-alpha)


@answers("sub_", "subtract_", of=COO)
def sub_(a: Tensor, b: Tensor, *, alpha=1) -> Tensor:
    """The same in place."""
    return add_(a, b, alpha=-alpha)


@answers("rsub", "__rsub__", of=COO)
def _reflected(a: Tensor, b, *, alpha=1) -> Tensor:
    return add(b, a, alpha=-alpha)
