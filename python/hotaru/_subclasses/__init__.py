"""Modes that look at calls of operators."""

from __future__ import annotations

from . import fake_tensor, schema_check_mode
from .cross_reference import CrossRefFakeMode

__all__ = ["CrossRefFakeMode", "fake_tensor", "schema_check_mode"]
