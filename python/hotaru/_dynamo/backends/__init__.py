"""Backends of `compile` by their names."""

from __future__ import annotations
