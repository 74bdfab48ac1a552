"""Operators as nodes of ONNX's version 11: see `symbolic_opset9`."""

from __future__ import annotations

from . import symbolic_opset9


def __getattr__(name: str):
    return getattr(symbolic_opset9, name)
