"""Pickles and copies of sparse tensors."""

from __future__ import annotations

from .. import _C
from .tensor import Parts, SparseTensor, build, parts_of


def rebuild(layout, index, inner, values, size, coalesced, requires_grad):
    """What `reduce` took apart."""
    made = build(Parts(layout, index, inner, values), size, coalesced)
    return made.requires_grad_(requires_grad)


def reduce(tensor: SparseTensor):
    """For pickles: its parts."""
    parts = parts_of(tensor)
    coalesced = parts.inner is None and _C._sparse_coalesced(tensor)
    return rebuild, (
        *parts, tuple(tensor.shape), coalesced, tensor.requires_grad,
    )  # fmt: skip


def deepcopy(tensor: SparseTensor, memo: dict) -> SparseTensor:
    """A copy of all parts."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) "
            "support the deepcopy protocol at the moment."
        )
    parts = parts_of(tensor)
    copies = Parts(
        parts.layout, *(None if p is None else p.clone() for p in parts[1:])
    )
    coalesced = parts.inner is None and _C._sparse_coalesced(tensor)
    made = build(copies, tensor.shape, coalesced)
    memo[id(tensor)] = made
    return made.requires_grad_(tensor.requires_grad)
