"""Tensors in parts, and with strides: collectives take rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _C, no_grad
from .._C import Tensor
from .work import Work


def parts_of(tensor: Tensor, count: int) -> tuple[Tensor, list[Tensor]]:
    """The tensor, contiguous, and its equal parts."""
    whole = tensor.detach().contiguous()
    flat, size = whole.view(-1), whole.numel() // count
    return whole, [flat[i * size : (i + 1) * size] for i in range(count)]


def split_of(
    tensor: Tensor, sizes: Sequence[int] | None, count: int
) -> tuple[Tensor, list[Tensor]]:
    """The tensor, contiguous, and as many of its rows for each process."""
    whole = tensor.detach().contiguous()
    rows = whole.size(0) if whole.dim() else 1
    if not sizes:
        if rows % count:
            raise ValueError(
                "Tensor's dim 0 does not divide equally across group size"
            )
        sizes = [rows // count] * count
    if len(sizes) != count:
        raise ValueError("Number of tensor splits not equal to group size")
    if sum(sizes) != rows:
        raise ValueError("Split sizes doesn't match total dim 0 size")
    return whole, list(whole.split(list(sizes)))


@no_grad()
def copy_back(targets, places, async_op: bool) -> tuple:
    """Into tensors with strides, when their contents have come."""
    if not async_op:
        for target, place in zip(targets, places, strict=True):
            if target is not place:
                target.detach().copy_(place)
        return ()
    previous, own = _C._current_stream(), _C.Stream()
    _C._set_stream(own)
    try:
        for target, place in zip(targets, places, strict=True):
            if target is not place:
                target.detach().copy_(place)
    finally:
        _C._set_stream(previous)
    return (own.record_event(),)


def written_back(work: Work, output, whole, async_op: bool) -> Work:
    """The same, of one tensor that was given in parts."""
    if not output.is_contiguous():
        work._after = copy_back([output], [whole], async_op)
    return work
