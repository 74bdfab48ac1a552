"""The CPU as a device, with streams that are real queues.

    stream = hotaru.cpu.Stream()
    with hotaru.cpu.stream(stream):
        y = x @ w          # returns at once, runs on the pool
    print(y)               # waits for what y needs

Work on one stream runs in order, work on different streams side by side. An
operator that touches a tensor in use on another stream waits for that use, and
so does whatever reads values: ``print``, ``item()``, ``numpy()``. An error in
queued work is raised at the next synchronisation of its stream and by whoever
reads what it should have computed.
"""

from __future__ import annotations

from .. import _C
from .._C import Event, Stream
from .._streams import StreamContext, stream

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "set_device",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """Its name, "cpu", as in PyTorch."""
    return "cpu"


def set_device(device) -> None:
    """Changes nothing: there is one CPU."""


def current_stream(device=None) -> Stream:
    """The stream that this thread's operators go to.

    Its ``stream_id`` is 0 for the one that runs them at once, in the caller.
    """
    _check(device)
    return _C._current_stream()


def synchronize(device=None) -> None:
    """Waits for every queued stream of the process.

    Args:
        device: ``None``, 0 or a CPU device; ValueError for others.

    Raises:
        The first error of queued work that was not raised yet.
    """
    _check(device)
    _C._synchronize()


def _check(device) -> None:
    if device is None or (isinstance(device, int) and device == 0):
        return
    if isinstance(device, int):
        raise ValueError(f"cpu: there is no device {device}, only device 0")
    device = _C.device(device)
    if device.type != "cpu":
        raise ValueError(f"Expected a cpu device, but got: {device}")
