"""Modules of quantised models and of models that are going to be quantised."""

from __future__ import annotations

import importlib

__all__ = ["intrinsic", "qat", "quantized"]


def __getattr__(name: str):
    if name in __all__:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
