"""NamedTuples that compiled code returns."""

from __future__ import annotations

import collections
import functools

_CLASSES: dict = {}


def register(name: str, cls: type) -> None:
    """Makes results of the named tuple type `name` instances of `cls`."""
    _CLASSES[name] = cls


@functools.cache
def _make(name: str, fields: tuple) -> type:
    return collections.namedtuple(name.rpartition(".")[2], fields)


def rebuild(name: str, fields: tuple, values: tuple):
    """The tuple with the names of its type."""
    return (_CLASSES.get(name) or _make(name, fields))(*values)
