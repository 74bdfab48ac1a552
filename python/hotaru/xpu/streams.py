"""Streams and events of XPU devices, which none can be made of."""

from __future__ import annotations

from ._absent import OfDevices

__all__ = ["Event", "Stream"]


class Stream(OfDevices):
    """Work that a device does in order."""

    def __new__(cls, device=None, priority: int = 0, **kwargs):
        return super().__new__(cls)


class Event(OfDevices):
    """A point of a stream."""

    def __new__(cls, enable_timing: bool = False):
        return super().__new__(cls)
