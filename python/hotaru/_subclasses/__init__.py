"""Tensors without values, and modes that look at calls of operators."""

from __future__ import annotations

from . import fake_tensor, fake_utils, schema_check_mode
from .cross_reference import CrossRefFakeMode
from .fake_tensor import (
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)

__all__ = [
    "CrossRefFakeMode", "DynamicOutputShapeException", "FakeTensor",
    "FakeTensorMode", "UnsupportedFakeTensorException", "fake_tensor",
    "fake_utils", "schema_check_mode",
]  # fmt: skip
