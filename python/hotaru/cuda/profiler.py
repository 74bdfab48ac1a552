"""PyTorch's older way to profile a block: all kernel calls, see
``hotaru.profiler``.
"""

from __future__ import annotations

from ..profiler import profile as _profile

__all__ = ["profile", "start", "stop"]


def profile() -> _profile:
    """Records the kernel calls of a ``with`` block."""
    return _profile()


_running: list[_profile] = []


def start() -> None:
    """Starts to record; see ``stop``."""
    recording = profile()
    recording.start()
    _running.append(recording)


def stop() -> _profile:
    """Stops what ``start`` began and returns the recording."""
    recording = _running.pop()
    recording.stop()
    return recording
