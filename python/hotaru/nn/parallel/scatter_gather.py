"""Nested tensors cut along the batch for several devices, and joined again."""

from __future__ import annotations

from collections.abc import Sequence

from ... import Tensor, cat, device

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _named(value) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _place(target):
    return device("cuda", target) if isinstance(target, int) else device(target)


def scatter(inputs, target_gpus: Sequence, dim: int = 0):
    """One copy of `inputs` for each device: tensors are cut, the rest shared.

    Args:
        inputs: tensors in tuples, lists and dicts.
        target_gpus: devices, or numbers of GPUs.
        dim: the axis that is cut.
    """
    places = [_place(target) for target in target_gpus]
    return _scattered(inputs, places, dim)


def _scattered(value, places: list, dim: int) -> list:
    if isinstance(value, Tensor):
        parts = value.chunk(len(places), dim)
        return [part.to(place) for part, place in zip(parts, places)]
    if isinstance(value, (tuple, list)) and len(value):
        rows = zip(*(_scattered(each, places, dim) for each in value))
        if _named(value):
            return [type(value)(*row) for row in rows]
        return [type(value)(row) for row in rows]
    if isinstance(value, dict) and len(value):
        rows = zip(*(_scattered(item, places, dim) for item in value.items()))
        return [type(value)(row) for row in rows]
    return [value for _ in places]


def scatter_kwargs(
    inputs: tuple, kwargs: dict | None, target_gpus: Sequence, dim: int = 0
) -> tuple[tuple, tuple]:
    """`scatter` of positional and named arguments, equally many of both."""
    given = scatter(inputs, target_gpus, dim) if inputs else []
    named_ones = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(given), len(named_ones))
    given = [*given, *(() for _ in range(count - len(given)))]
    missing = ({} for _ in range(count - len(named_ones)))
    return tuple(given), (*named_ones, *missing)


def gather(outputs, target_device, dim: int = 0):
    """The results of several devices joined on one; "cpu" or -1 for the CPU."""
    place = _place("cpu" if target_device == -1 else target_device)
    return _gathered(list(outputs), place, dim)


def _gathered(values: list, place, dim: int):
    first = values[0]
    if isinstance(first, Tensor):
        parts = [
            v.to(place).reshape(1) if v.dim() == 0 else v.to(place) for v in values
        ]
        return cat(parts, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(v) != len(first) for v in values):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)(
            (key, _gathered([v[key] for v in values], place, dim)) for key in first
        )
    joined = (_gathered(list(row), place, dim) for row in zip(*values))
    return type(first)(*joined) if _named(first) else type(first)(joined)
