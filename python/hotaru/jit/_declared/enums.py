"""Members of Enum classes that compiled code returns."""

from __future__ import annotations

import enum
import functools

_CLASSES: dict = {}


def register(name: str, cls: type) -> None:
    """Makes results of the Enum type `name` members of `cls`."""
    _CLASSES[name] = cls


@functools.cache
def _make(name: str, members: tuple) -> type:
    return enum.Enum(name.rpartition(".")[2], members)


def member(name: str, members: tuple, chosen: str) -> enum.Enum:
    """The member `chosen` of the class that has these names and values.

    That is the class that was compiled under the name, or a new one for
    programs from elsewhere.
    """
    cls = _CLASSES.get(name)
    if cls is None or tuple((m.name, m.value) for m in cls) != members:
        cls = _make(name, members)
    return cls[chosen]
