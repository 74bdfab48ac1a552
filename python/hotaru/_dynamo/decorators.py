"""What files say of tensors whose sizes a compiler was told about."""

from __future__ import annotations

from .._symint import _DimRange

__all__ = ["_DimRange"]
