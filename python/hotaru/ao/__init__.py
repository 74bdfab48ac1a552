"""Quantisation in the architecture of PyTorch: modules and workflows."""

from __future__ import annotations

from .._own_names import part

__all__ = ["nn", "quantization"]


def __getattr__(name: str):
    return part(__name__, name, __all__)
