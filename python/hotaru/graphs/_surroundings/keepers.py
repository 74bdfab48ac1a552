"""Functions that bring back what containers, cells and names held."""

from __future__ import annotations

import functools
import sys

from .raw import fill, items_of, pairs_of

_MISSING = object()


def same_items(a, b) -> bool:
    """True if two sequences hold the same objects."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def keep(container):
    """For a list, dictionary, deque or set."""
    content = (pairs_of if isinstance(container, dict) else items_of)(container)
    return functools.partial(_refill, container, content)


def keep_members(kind: type):
    """For attributes of a class."""
    return functools.partial(_rebind_members, kind, dict(vars(kind)))


def keep_buffer(value):
    """For numbers in memory: a bytearray, an array, what ctypes made."""
    content = memoryview(value).tobytes()
    if hasattr(value, "dtype"):  # numpy's
        kept = value.copy()
    else:
        kept = value[:] if hasattr(value, "typecode") else content
    return functools.partial(_rewrite, value, content, kept)


def keep_cell(cell):
    """For what a closure has in a cell."""
    try:
        content = cell.cell_contents
    except ValueError:  # not bound
        return lambda: None
    return functools.partial(setattr, cell, "cell_contents", content)


def keep_names(scope: dict, names: tuple):
    """For what names mean in a module."""
    values = [scope.get(name, _MISSING) for name in names]
    return functools.partial(_rebind, scope, names, values)


def _refill(container, content: list) -> None:
    """Has a container hold what it held, if it holds something else."""
    if isinstance(container, dict):
        now = pairs_of(container)
        same = same_items(
            [part for pair in now for part in pair],
            [part for pair in content for part in pair],
        )
    else:
        same = same_items(items_of(container), content)
    if not same:
        fill(container, content)


def _rewrite(value, content: bytes, kept) -> None:
    """Has memory hold what it held; some have another length by then."""
    if memoryview(value).tobytes() == content:
        return
    if hasattr(value, "dtype"):
        value[...] = kept
    elif isinstance(value, memoryview):
        value.cast("B")[:] = kept
    elif isinstance(value, bytearray) or hasattr(value, "typecode"):
        value[:] = kept
    else:
        ctypes = sys.modules["ctypes"]
        ctypes.memmove(ctypes.addressof(value), kept, len(kept))


def _rebind_members(kind: type, content: dict) -> None:
    now = dict(vars(kind))
    for name in now.keys() - content.keys():
        type.__delattr__(kind, name)
    for name, value in content.items():
        if now.get(name, _MISSING) is not value:
            type.__setattr__(kind, name, value)


def _rebind(scope: dict, names: tuple, values: list) -> None:
    for name, value in zip(names, values):
        if value is _MISSING:
            scope.pop(name, None)
        elif scope.get(name, _MISSING) is not value:
            scope[name] = value
