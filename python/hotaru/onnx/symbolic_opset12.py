"""Operators as nodes of ONNX's version 12: see `symbolic_opset9`."""

from __future__ import annotations

from . import symbolic_opset9
from .symbolic_opset9 import _value

__all__ = ["dropout"]


def dropout(g, input, p: float, train: bool):
    """The input itself, or in training Dropout, whose ratio is an input."""
    if not train:
        return input
    return g.op("Dropout", input, _value(g, p), _value(g, True))


def __getattr__(name: str):
    return getattr(symbolic_opset9, name)
