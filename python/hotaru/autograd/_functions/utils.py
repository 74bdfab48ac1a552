"""Shapes of gradients, for functions that old programs derive themselves."""

from __future__ import annotations

from ... import Tensor


def maybe_view(tensor: Tensor, size, check_same_size: bool = True) -> Tensor:
    """The elements in the shape `size`; itself if it has that."""
    if check_same_size and tensor.shape == size:
        return tensor
    return tensor.contiguous().view(size)


def maybe_unexpand(tensor: Tensor, old_size, check_same_size: bool = True) -> Tensor:
    """The sum over all places that an element of the shape `old_size` was
    broadcast to; itself if it has that shape.
    """
    if check_same_size and tensor.shape == old_size:
        return tensor
    return tensor.sum_to_size(old_size)
