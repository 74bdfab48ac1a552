"""Modules that train for scales that are found in each call."""

from __future__ import annotations

from .modules import Linear as Linear

__all__ = ["Linear"]
