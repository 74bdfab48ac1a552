"""Shapes and strides of views, without the tensors."""

from __future__ import annotations

import math
from typing import NamedTuple


class Given(NamedTuple):
    """Record of a tensor in a profile; strides are None where it has none."""

    shape: tuple[int, ...]
    stride: tuple[int, ...] | None
    dtype: object = None
    offset: int = 0

    @property
    def dim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    def like(self, shape, stride=None, offset: int = 0) -> Given:
        """Another one of its dtype; contiguous without strides."""
        steps = dense(shape) if stride is None else tuple(stride)
        return Given(tuple(shape), steps, self.dtype, self.offset + offset)


def dense(shape) -> tuple[int, ...]:
    """The strides of a contiguous tensor."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def permute(x: Given, dims) -> Given:
    """The dimensions in another order."""
    return x.like([x.shape[d] for d in dims], [x.stride[d] for d in dims])


def transpose(x: Given, first: int, second: int) -> Given:
    """Two dimensions change places."""
    order = list(range(x.dim))
    if order:
        order[first], order[second] = order[second], order[first]
    return permute(x, order)


def unsqueeze(x: Given, dim: int) -> Given:
    """A dimension of one more."""
    at = dim % (x.dim + 1)
    inside = at < x.dim
    step = x.shape[at] * x.stride[at] if inside else 1
    return x.like(
        [*x.shape[:at], 1, *x.shape[at:]], [*x.stride[:at], step, *x.stride[at:]]
    )


def squeeze(x: Given, *dims) -> Given:
    """Without dimensions of one: all, or those of a number or list."""
    chosen = range(x.dim)
    if dims and x.dim:
        listed = dims[0] if isinstance(dims[0], (list, tuple)) else dims
        chosen = [d % x.dim for d in listed]
    kept = [d for d in range(x.dim) if d not in chosen or x.shape[d] != 1]
    return permute(x, kept)


def expand(x: Given, size, *_) -> Given:
    """Dimensions of one, and further ones in front, repeated."""
    new = len(size) - x.dim
    shape, stride = list(size), [0] * len(size)
    for at in reversed(range(len(size))):
        old = at - new
        if old < 0:
            if at + 1 < len(size) and size[at] == 1:
                stride[at] = shape[at + 1] * stride[at + 1]
            continue
        shape[at] = x.shape[old] if size[at] == -1 else size[at]
        repeated = x.shape[old] == 1 and shape[at] != 1
        stride[at] = 0 if repeated else x.stride[old]
    return x.like(shape, stride)


def select(x: Given, dim: int, index: int) -> Given:
    """One of a dimension, which goes."""
    at = dim % x.dim
    index %= x.shape[at]
    kept = permute(x, [d for d in range(x.dim) if d != at])
    return kept.like(kept.shape, kept.stride, index * x.stride[at])


def slice_of(x: Given, dim=0, start=None, end=None, step=1) -> Given:
    """Some of a dimension."""
    at = dim % x.dim
    chosen = range(x.shape[at])[slice(start, end, step)]
    shape, stride = list(x.shape), list(x.stride)
    shape[at], stride[at] = len(chosen), stride[at] * step
    begin = chosen[0] if chosen else 0
    return x.like(shape, stride, begin * x.stride[at])


def known_size(x: Given, size) -> list[int]:
    """A size without the -1 that stands for what is left."""
    rest = math.prod(s for s in size if s != -1)
    return [x.numel // max(rest, 1) if s == -1 else s for s in size]


def is_contiguous(x: Given) -> bool:
    """Tells whether the elements lie in their order, without gaps."""
    steps = zip(x.shape, x.stride, dense(x.shape))
    return x.numel == 0 or all(n == 1 or s == d for n, s, d in steps)


def view_strides(x: Given, size) -> tuple[int, ...] | None:
    """The strides of the same memory in another shape; None if there are none.

    Dimensions that lie in each other without gaps make a run, and the new ones
    have to divide the runs.
    """
    if x.numel == 0:
        return dense(size)
    runs: list[list[int]] = []  # elements and the last one's step
    for length, step in zip(x.shape, x.stride):
        if length == 1:
            continue
        if runs and runs[-1][1] == length * step:
            runs[-1] = [runs[-1][0] * length, step]
        else:
            runs.append([length, step])
    steps = [1] * len(size)
    at = len(size) - 1
    for length, step in reversed(runs):
        left = length
        while left > 1 and at >= 0:
            if left % size[at]:
                return None
            steps[at], left = step * (length // left), left // size[at]
            at -= 1
        if left > 1:
            return None
        while at >= 0 and size[at] == 1:
            steps[at] = step * length
            at -= 1
    while at >= 0:
        outer = at + 1 < len(size)
        steps[at] = size[at + 1] * steps[at + 1] if outer else 1
        at -= 1
    return tuple(steps)


def convolved_size(x: Given, weight: Given, stride, padding, dilation) -> list:
    """The sizes of a convolution's result behind batch and channels."""
    return [
        (size + 2 * padding[d] - dilation[d] * (weight.shape[2 + d] - 1) - 1)
        // stride[d]
        + 1
        for d, size in enumerate(x.shape[2:])
    ]
