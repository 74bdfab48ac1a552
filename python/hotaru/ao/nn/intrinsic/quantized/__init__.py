"""Fused modules of quantised tensors."""

from __future__ import annotations

import importlib

from .modules import *
from .modules import __all__ as __all__


def __getattr__(name: str):
    if name == "dynamic":
        return importlib.import_module(".dynamic", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
