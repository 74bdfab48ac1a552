"""Events of Apple's devices, which none can be made of."""

from __future__ import annotations

from ._absent import needs_device

__all__ = ["Event"]


class Event:
    """A point of the device's work."""

    def __init__(self, enable_timing: bool = False) -> None:
        needs_device("acquireEvent")

    def record(self) -> None:
        """Marks the point."""
        needs_device("recordEvent")

    def wait(self) -> None:
        """Has the device wait for it."""
        needs_device("waitForEvent")

    def query(self) -> bool:
        """Tells whether the device is past it."""
        needs_device("queryEvent")

    def synchronize(self) -> None:
        """Waits for it."""
        needs_device("synchronizeEvent")

    def elapsed_time(self, end_event) -> float:
        """Milliseconds from this to a later one."""
        needs_device("elapsedTimeOfEvents")
