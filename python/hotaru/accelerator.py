"""Generic names for the streams of whatever device computes: here the CPU."""

from __future__ import annotations

from . import cpu
from ._C import Stream, _set_stream
from ._streams import stream

__all__ = [
    "current_accelerator",
    "current_device_index",
    "current_stream",
    "device_count",
    "is_available",
    "set_stream",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """Whether there is a device beside the CPU: False."""
    return False


def current_accelerator(check_available: bool = False):
    """The device beside the CPU: None."""


def device_count() -> int:
    """Devices beside the CPU: 0."""
    return 0


def current_device_index() -> int:
    """Index of the device whose streams these are: 0, the CPU."""
    return 0


def current_stream(device=None) -> Stream:
    """The stream that this thread's operators go to."""
    return cpu.current_stream(device)


def set_stream(stream: Stream) -> None:
    """Sends this thread's operators to ``stream`` from here on."""
    _set_stream(stream)


def synchronize(device=None) -> None:
    """Waits for every queued stream; see ``hotaru.cpu.synchronize``."""
    cpu.synchronize(device)
