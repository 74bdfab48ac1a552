"""Operators that nobody is asked for."""

from __future__ import annotations

from contextlib import contextmanager

from .. import _C

__all__ = ["no_dispatch"]


@contextmanager
def no_dispatch():
    """Inside, operators of this thread ask no mode and no class with a
    `__torch_dispatch__`.
    """
    before = _C._without_dispatch(True)
    try:
        yield
    finally:
        _C._without_dispatch(before)
