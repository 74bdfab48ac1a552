"""Versions."""

from __future__ import annotations

__version__ = "0.1.0"
cuda = None
hip = None
debug = False
