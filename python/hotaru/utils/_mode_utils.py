"""Leaving `__torch_dispatch__` out."""

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
