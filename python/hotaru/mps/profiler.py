"""Records of Apple's devices, which none can be made of."""

from __future__ import annotations

import contextlib

from ._absent import needs_device

__all__ = [
    "is_capturing_metal",
    "is_metal_capture_enabled",
    "metal_capture",
    "profile",
    "start",
    "stop",
]


def start(mode: str = "interval", wait_until_completed: bool = False) -> None:
    """Raises: there is no such device."""
    needs_device("profilerStartTrace")


def stop() -> None:
    """Raises: there is no such device."""
    needs_device("profilerStopTrace")


def is_capturing_metal() -> bool:
    """Tells whether a device's work is being kept: never."""
    return False


def is_metal_capture_enabled() -> bool:
    """Tells whether it could be: never."""
    return False


@contextlib.contextmanager
def profile(mode: str = "interval", wait_until_completed: bool = False):
    """A block that is recorded; raises when it is entered."""
    start(mode, wait_until_completed)
    try:
        yield
    finally:
        stop()


@contextlib.contextmanager
def metal_capture(fname: str):
    """A block whose work is kept in a file; raises when it is entered."""
    needs_device("startCapture")
    yield
