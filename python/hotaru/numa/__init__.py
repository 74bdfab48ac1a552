"""Which processors a process runs on, as programs ask a launcher for it."""

from __future__ import annotations

from . import binding

__all__ = ["binding"]
