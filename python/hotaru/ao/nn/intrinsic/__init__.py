"""Modules that are converted as one; `qat` and `quantized` have their forms."""

from __future__ import annotations

import importlib

from .modules import *
from .modules import __all__ as __all__
from .modules.fused import _FusedModule as _FusedModule


def __getattr__(name: str):
    if name in ("qat", "quantized"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
