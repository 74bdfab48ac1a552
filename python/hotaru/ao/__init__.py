"""Quantisation in the architecture of PyTorch: modules and workflows."""

from __future__ import annotations

import importlib

__all__ = ["nn", "quantization"]


def __getattr__(name: str):
    if name in __all__:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
