"""Collectives that gradients pass through."""

from __future__ import annotations

from .functional import *
