"""Entering and leaving streams."""

from __future__ import annotations

import atexit
import threading

from . import _C

__all__ = ["StreamContext", "stream"]

# Errors that nobody asked for yet are told when the interpreter ends.
atexit.register(_C._synchronize)


class StreamContext:
    """Makes a stream this thread's current one for a ``with`` block.

    ``None`` changes nothing.
    """

    def __init__(self, stream: _C.Stream | None) -> None:
        if stream is not None and not isinstance(stream, _C.Stream):
            raise TypeError(
                f"expected a Stream or None, but got {type(stream).__name__}"
            )
        self.stream = stream
        self._previous: list[_C.Stream] = []

    def __enter__(self) -> _C.Stream | None:
        if self.stream is not None:
            self._previous.append(_C._current_stream())
            _C._set_stream(self.stream)
        return self.stream

    def __exit__(self, *error) -> None:
        if self.stream is not None:
            _C._set_stream(self._previous.pop())


def stream(stream: _C.Stream | None) -> StreamContext:
    """Sends the operators of a ``with`` block to the stream."""
    return StreamContext(stream)


# ``with s:`` itself: what was current, by thread.
_entered = threading.local()


def _enter(self: _C.Stream) -> _C.Stream:
    stack = _entered.__dict__.setdefault("stack", [])
    stack.append(_C._current_stream())
    _C._set_stream(self)
    return self


def _exit(self: _C.Stream, *error) -> None:
    _C._set_stream(_entered.stack.pop())


def _record_event(self: _C.Stream, event: _C.Event | None = None) -> _C.Event:
    """Marks the work so far in ``event``, or in a new one; returns it."""
    event = _C.Event() if event is None else event
    event.record(self)
    return event


_C.Stream.__enter__ = _enter
_C.Stream.__exit__ = _exit
_C.Stream.record_event = _record_event
