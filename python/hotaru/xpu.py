"""Queries of programs that look for XPU devices: there are none here."""

from __future__ import annotations

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """Tells whether there is such a device: never."""
    return False


def device_count() -> int:
    """How many there are: none."""
    return 0
