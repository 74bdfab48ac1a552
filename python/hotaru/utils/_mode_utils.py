"""Leaving `__torch_dispatch__` out; which modes are one."""

from __future__ import annotations

from contextlib import contextmanager

from .. import _C


@contextmanager
def no_dispatch():
    """Inside, neither modes nor classes are asked, in this thread."""
    before = _C._without_dispatch(True)
    try:
        yield
    finally:
        _C._without_dispatch(before)


def all_same_mode(modes) -> bool:
    """Whether all of a list are the same object."""
    return all(mode is modes[0] for mode in modes)
