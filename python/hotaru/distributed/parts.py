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


def gathered_of(output: Tensor, input: Tensor, count: int):
    """`parts_of` what is gathered; ValueError for another size."""
    if output.numel() != input.numel() * count:
        raise ValueError(
            "output tensor size must be equal to world_size times input tensor size"
        )
    return parts_of(output, count)


def scattered_of(input: Tensor, output: Tensor, count: int) -> list[Tensor]:
    """Parts of what is scattered; ValueError for another size."""
    if input.numel() != output.numel() * count:
        raise ValueError(
            "input tensor must be the same size as output size times world size"
        )
    return parts_of(input, count)[1]


def split_of(
    tensor: Tensor, sizes: Sequence[int] | None, count: int
) -> tuple[Tensor, list[Tensor]]:
    """The tensor, contiguous, and as many of its rows for each process."""
    whole = tensor.detach().contiguous()
    rows = whole.size(0) if whole.dim() else 1
    if not sizes:
        if rows % count:
            raise RuntimeError(
                "Tensor's dim 0 does not divide equally across group size"
            )
        sizes = [rows // count] * count
    if len(sizes) != count:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return whole, list(whole.split(list(sizes)))


class _CopyLater:
    """A copy to a device that waits for the host's memory: whoever waits for
    the collective makes it, as an event that is waited for.
    """

    def __init__(self, pairs: list) -> None:
        self._pairs = pairs

    @no_grad()
    def synchronize(self) -> None:
        """Copies, once."""
        pairs, self._pairs = self._pairs, []
        for target, place in pairs:
            target.detach().copy_(place)

    def query(self) -> bool:
        """True: the collective is asked itself."""
        return True


@no_grad()
def copy_back(targets, places, async_op: bool) -> tuple:
    """Into tensors with strides, or elsewhere, when their contents have come.

    What it gives are events.
    """
    pairs = [
        (target, place)
        for target, place in zip(targets, places, strict=True)
        if target is not place
    ]
    from_host = [p for p in pairs if p[0].device != p[1].device]
    if async_op and from_host:
        return (_CopyLater(pairs),)
    if not async_op or (pairs and pairs[0][0].is_cuda):
        for target, place in pairs:
            target.detach().copy_(place)
        return ()
    previous, own = _C._current_stream(), _C.Stream()
    _C._set_stream(own)
    try:
        for target, place in pairs:
            target.detach().copy_(place)
    finally:
        _C._set_stream(previous)
    return (own.record_event(),)


def written_back(work: Work | None, output, whole, async_op: bool):
    """The same work, of one tensor that was given in parts."""
    if not output.is_contiguous():
        after = copy_back([output], [whole], async_op)
        if work is not None:
            work._after = [*work._after, *after]
    return work
