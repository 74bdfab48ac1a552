"""Fused modules with scales of each call."""

from __future__ import annotations

from .linear_relu import LinearReLU as LinearReLU

__all__ = ["LinearReLU"]
