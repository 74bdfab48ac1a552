"""Tensors without values, and modes that look at calls of operators."""

from __future__ import annotations

from .._own_names import part
from . import fake_tensor, fake_utils
from .fake_tensor import (
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)

__all__ = [
    "CrossRefFakeMode",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorMode",
    "UnsupportedFakeTensorException",
    "fake_tensor",
    "fake_utils",
    "schema_check_mode",
]


def __getattr__(name: str):
    if name == "CrossRefFakeMode":
        from .cross_reference import CrossRefFakeMode

        return CrossRefFakeMode
    return part(__name__, name, ("schema_check_mode",))
