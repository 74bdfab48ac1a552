"""Fused modules with scales of each call."""

from __future__ import annotations

from .modules import LinearReLU as LinearReLU

__all__ = ["LinearReLU"]
