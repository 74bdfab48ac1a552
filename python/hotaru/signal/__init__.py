"""Signals: their windows."""

from __future__ import annotations

from .._own_names import add_parts as _add_parts
from . import windows

__all__ = ["windows"]

# PyTorch's is a package, whose one module has the functions.
_add_parts(
    f"{__package__}.windows",
    {"windows": {name: getattr(windows, name) for name in windows.__all__}},
)
