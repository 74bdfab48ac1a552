"""Dimensions that are counted from the end."""

from __future__ import annotations


def wrap_dim(dim: int, count: int) -> int:
    """The dimension from 0 on, of `count`; IndexError where there is none.

    Of no dimensions one is there, as in PyTorch.
    """
    count = max(count, 1)
    if not -count <= dim < count:
        raise IndexError(
            "Dimension out of range (expected to be in range of "
            f"[{-count}, {count - 1}], but got {dim})"
        )
    return dim + count if dim < 0 else dim
