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


def no_dimensions(dim: int) -> IndexError:
    """The error of a dimension where there are none."""
    return IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def check_distinct(dims: list[int], error: type) -> None:
    if len(set(dims)) != len(dims):
        raise error("permute(): duplicate dims are not allowed.")


def moved_dims(source, destination, count: int) -> list[int]:
    """The order of `count` dimensions after `movedim`."""
    a, b = (
        [wrap_dim(d, count) for d in ([dims] if isinstance(dims, int) else dims)]
        for dims in (source, destination)
    )
    rest = iter(d for d in range(count) if d not in a)
    at = dict(zip(b, a))
    return [at[i] if i in at else next(rest) for i in range(count)]
