"""Automatic casts, where older programs import them from."""

from __future__ import annotations

from . import autocast, custom_bwd, custom_fwd

__all__ = ["autocast", "custom_bwd", "custom_fwd"]
