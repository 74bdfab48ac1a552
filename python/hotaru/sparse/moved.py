"""Sparse tensors near a sparse tensor, for comparing derivatives."""

from __future__ import annotations

import hotaru

from .._C import Tensor
from . import coo
from .masks import values_at
from .tensor import SparseTensor, parts_of, with_values


def values(tensor: SparseTensor) -> Tensor:
    """The values themselves: written to, the tensor changes."""
    return parts_of(tensor).values


def along(tensor: SparseTensor, step: Tensor, distance: float) -> SparseTensor:
    """A leaf: tensor + distance * step, at the elements of `tensor`; of
    several with the same indices one is moved.
    """
    pattern = tensor.detach()
    change = values_at(step, pattern) * distance
    if pattern.is_sparse and not pattern.is_coalesced():
        change = change * _first(pattern).view((-1,) + (1,) * (change.dim() - 1))
    moved = with_values(pattern, parts_of(pattern).values + change)
    return moved.requires_grad_(tensor.requires_grad)


def _first(pattern: SparseTensor) -> Tensor:
    indices = parts_of(pattern).index
    flat = coo.flat_index(indices, tuple(pattern.shape))
    found, group = flat.unique(return_inverse=True)
    place = hotaru.arange(group.shape[0], device=group.device)
    chosen = hotaru.empty_like(found).index_copy_(0, group, place)
    return hotaru.zeros_like(place).index_fill_(0, chosen, 1)


def kept(tensor: SparseTensor) -> Tensor:
    """A strided tensor: 1 where `tensor` keeps an element, else 0."""
    ones = hotaru.ones_like(parts_of(tensor).values, dtype=hotaru.float64)
    return (with_values(tensor.detach(), ones).to_dense() != 0).to(ones.dtype)


def densified(tensor: SparseTensor) -> SparseTensor:
    """The same in the same layout, with every element kept."""
    pattern = tensor.detach()
    dense = pattern.to_dense()
    ones = hotaru.ones_like(dense)
    if pattern.is_sparse:
        every = coo.from_dense(ones, coo.sparse_dims(pattern))
    else:
        from . import compressed

        every = ones.to_sparse(
            layout=pattern.layout,
            blocksize=compressed.block_size(pattern),
            dense_dim=compressed.dense_dims(pattern),
        )
    made = with_values(every, values_at(dense, every).clone())
    return made.requires_grad_(tensor.requires_grad)
