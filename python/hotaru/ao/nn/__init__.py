"""Modules of quantised models and of models that are going to be quantised."""

from __future__ import annotations

from ..._own_names import part

__all__ = ["intrinsic", "qat", "quantized"]


def __getattr__(name: str):
    return part(__name__, name, __all__)
