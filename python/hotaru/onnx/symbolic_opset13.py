"""Operators as nodes of ONNX's version 13: see `symbolic_opset9`."""

from __future__ import annotations

from . import symbolic_opset12

__all__ = ["softmax"]


def softmax(g, input, dim: int, dtype=None):
    """The node Softmax, which from this version on is along one dimension."""
    return g.op("Softmax", input, axis_i=dim)


def __getattr__(name: str):
    return getattr(symbolic_opset12, name)
