"""Warnings that a program gets once, or each time if it wants so."""

from __future__ import annotations

import warnings

__all__ = ["is_warn_always_enabled", "set_warn_always"]


class _Given:
    always = False
    texts: set[str] = set()  # noqa: RUF012  (one for the process)


def set_warn_always(b: bool, /) -> None:
    """Whether warnings that are given once by default are given each time."""
    _Given.always = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` set."""
    return _Given.always


def warn_once(text: str, stacklevel: int = 2) -> None:
    """A UserWarning, unless it was given and `set_warn_always` is off."""
    if text in _Given.texts and not _Given.always:
        return
    _Given.texts.add(text)
    warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)
