"""Warnings that a program gets once, or each time if it wants so."""

from __future__ import annotations

import warnings

from . import _C

_given: set[str] = set()


def warn_once(text: str, stacklevel: int = 2) -> None:
    """A UserWarning, unless it was given and `set_warn_always` is off."""
    if text in _given and not _C.is_warn_always_enabled():
        return
    _given.add(text)
    warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)
