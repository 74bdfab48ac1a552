"""Which pipes a pipe takes its items from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

_PIPES = (IterDataPipe, MapDataPipe)


def traverse_dps(datapipe) -> dict:
    """The graph of pipes that ends with this one.

    From the pipe's id to the pair of it and the graphs, in one dict, of the
    pipes among its attributes and in their lists, tuples, sets and dicts. A
    pipe that leads to itself is not followed again.

    Raises RuntimeError for anything but a pipe.
    """
    return _graph(datapipe, set(), False)


def traverse(datapipe, only_datapipe: bool | None = None) -> dict:
    """Deprecated: `traverse_dps`, which looks into all attributes' attributes,
    too, unless `only_datapipe` is True.
    """
    text = (
        "`traverse` function is deprecated and will be removed after 1.13. "
        "Please use `traverse_dps` instead."
    )
    if not only_datapipe:
        text += (
            " And, the behavior will be changed to the equivalent of "
            "`only_datapipe=True`."
        )
    warnings.warn(text, FutureWarning, stacklevel=2)
    return _graph(datapipe, set(), not only_datapipe)


def _graph(pipe, above: set, deep: bool) -> dict:
    if not isinstance(pipe, _PIPES):
        raise RuntimeError(
            f"Expected `IterDataPipe` or `MapDataPipe`, but {type(pipe)} is found"
        )
    if id(pipe) in above:
        return {}
    above = {*above, id(pipe)}
    found: dict = {}
    for attribute in vars(pipe).values():
        _collect(attribute, found, set(), deep)
    below: dict = {}
    for other in found.values():
        if id(other) not in above:
            below.update(_graph(other, above, deep))
    return {id(pipe): (pipe, below)}


def _collect(value, found: dict, seen: set, deep: bool) -> None:
    """Adds the pipes in a value to `found`, not those behind them."""
    if isinstance(value, _PIPES):
        found.setdefault(id(value), value)
        return
    if id(value) in seen:
        return
    if isinstance(value, Mapping):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = list(value)
    elif deep and hasattr(value, "__dict__") and not isinstance(value, type):
        parts = list(vars(value).values())
    else:
        return
    seen.add(id(value))
    for part in parts:
        _collect(part, found, seen, deep)
