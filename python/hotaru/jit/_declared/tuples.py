"""NamedTuples that compiled code returns."""

from __future__ import annotations

import collections
import functools

_CLASSES: dict = {}
_TEXTS: dict = {}


def register(name: str, cls: type, text: str) -> None:
    """Makes results of the named tuple type `name` instances of `cls`, and
    `text` what graphs show of the type.
    """
    _CLASSES[name] = cls
    _TEXTS[name] = text


def text_of(name: str) -> str | None:
    """The type as graphs show it: its fields."""
    return _TEXTS.get(name)


@functools.cache
def _make(name: str, fields: tuple) -> type:
    return collections.namedtuple(name.rpartition(".")[2], fields)


def rebuild(name: str, fields: tuple, values: tuple):
    """The tuple with the names of its type."""
    return (_CLASSES.get(name) or _make(name, fields))(*values)
