"""Entering and leaving streams."""

from __future__ import annotations

import threading

from .. import _C
from .._late import lent

__all__ = ["StreamContext", "stream"]


def _make_current(stream: _C.Stream) -> tuple:
    """Makes a stream current on its device, and that device current.

    Returns what was before, for `_restore`.
    """
    device = stream.device
    previous = _C._current_stream(device)
    if device.type != "cuda":
        _C._set_stream(stream)
        return previous, None
    current = _C._cuda_current_device()
    _C._set_stream(stream)
    _C._cuda_set_device(device.index)
    return previous, current


def _restore(before: tuple) -> None:
    stream, device = before
    _C._set_stream(stream)
    if device is not None:
        _C._cuda_set_device(device)


def check_stream(stream) -> None:
    if not isinstance(stream, _C.Stream):
        raise TypeError(f"expected a Stream or None, but got {type(stream).__name__}")


class StreamContext:
    """Makes a stream this thread's current one for a ``with`` block.

    The stream of a CUDA device makes that device the current one, too.
    ``None`` changes nothing.
    """

    def __init__(self, stream: _C.Stream | None) -> None:
        if stream is not None:
            check_stream(stream)
        self.stream = stream
        self._before: list[tuple] = []

    def __enter__(self) -> _C.Stream | None:
        if self.stream is not None:
            self._before.append(_make_current(self.stream))
        return self.stream

    def __exit__(self, *error) -> None:
        if self.stream is not None:
            _restore(self._before.pop())


def stream(stream: _C.Stream | None) -> StreamContext:
    """Sends the operators of a ``with`` block to the stream."""
    return StreamContext(stream)


# ``with s:`` itself: what was current, by thread.
_entered = threading.local()


def __enter__(self: _C.Stream) -> _C.Stream:
    stack = _entered.__dict__.setdefault("stack", [])
    stack.append(_make_current(self))
    return self


def __exit__(self: _C.Stream, *error) -> None:
    _restore(_entered.stack.pop())


def record_event(self: _C.Stream, event: _C.Event | None = None) -> _C.Event:
    """Marks the work so far in ``event``, or in a new one; returns it."""
    event = _C.Event() if event is None else event
    event.record(self)
    return event


def native_handle(self: _C.Stream) -> int:
    """The driver's stream.

    RuntimeError: it is a queue of the CPU, of which no driver knows.
    """
    handle = getattr(self, "cuda_stream", None)
    if handle is None:
        raise RuntimeError("Backend doesn't support getting stream native handle.")
    return handle


def is_capturing(self: _C.Stream) -> bool:
    """True if a graph is captured from it."""
    with StreamContext(self):
        return lent("is_capturing")()
