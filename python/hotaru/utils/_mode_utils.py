"""Operators that nobody is asked for."""

from __future__ import annotations

from .._dispatch.stack import nobody_asked

__all__ = ["all_same_mode", "no_dispatch"]


# Inside, operators of this thread ask no mode and no class with a
# `__torch_dispatch__`.
no_dispatch = nobody_asked


def all_same_mode(modes) -> bool:
    """Tells whether all of a sequence are one object; not of none."""
    return bool(modes) and all(mode is modes[0] for mode in modes)
