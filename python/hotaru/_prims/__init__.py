"""PyTorch's name for what compares shapes and strides, `utils`."""

from __future__ import annotations

from .. import _prims_common as utils

__all__ = ["utils"]
