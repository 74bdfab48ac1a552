"""Pickles and copies of sparse tensors."""

from __future__ import annotations

import hotaru

from .. import _C
from ..serialization._options import _serialization_tls
from . import coo, invariants
from .compressed import check as compressed_check
from .tensor import Parts, SparseTensor, build, parts_of


def _rebuild_sparse_tensor(layout, data) -> SparseTensor:
    """Makes the tensor that `reduce` took apart, of this process or of a file:
    (indices, values, size[, coalesced]) or (index, inner, values, size).

    RuntimeError: the parts do not fit, or indices are out of range: what is
    read may be anything.
    """
    if layout is _C.sparse_coo:
        indices, values, size, *coalesced = data
        coalesced = bool(coalesced and coalesced[0])
        _look_at(indices, values, tuple(size))
        return coo.make(indices, values, size, coalesced)
    index, inner, values, size = data
    parts = (index, inner, values, tuple(size))
    ordered = invariants.wanted(None)
    if not index.is_meta:
        _when_filled(lambda: compressed_check.check(*parts, layout, ordered))
    return hotaru.sparse_compressed_tensor(
        *parts, layout=layout, check_invariants=False
    )


def _look_at(indices, values, size: tuple) -> None:
    invariants.check_parts(indices, values, size)
    _when_filled(lambda: invariants.validate_coo(indices, values, size))


def _when_filled(check) -> None:
    """Checks now, or when the bytes of a file are there."""
    later = _serialization_tls.when_filled
    if later is not None:
        later.append(check)
    else:
        check()


def reduce(tensor: SparseTensor):
    """For pickles: PyTorch's function and parts."""
    from .._utils import _rebuild_sparse_tensor as function

    parts, size = parts_of(tensor), tensor.shape
    if parts.inner is None:
        coalesced = _C._sparse_coalesced(tensor)
        data = (parts.index, parts.values, size, coalesced)
    else:
        data = (parts.index, parts.inner, parts.values, size)
    return function, (parts.layout, data)


def copied(tensor: SparseTensor) -> SparseTensor:
    """A copy of all parts, without history."""
    parts = parts_of(tensor)
    copies = Parts(parts.layout, *(None if p is None else p.clone() for p in parts[1:]))
    coalesced = parts.inner is None and _C._sparse_coalesced(tensor)
    return build(copies, tensor.shape, coalesced)
