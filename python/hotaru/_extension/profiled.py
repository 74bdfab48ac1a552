"""Ranges that parts of this package add to a profile that runs."""

from __future__ import annotations

import contextlib

_NOTHING = contextlib.nullcontext()


class _Profiler:
    """Holds what `profiler` gave when it was imported, for those who use it
    alone.
    """

    recording = None
    range = None


def register(recording, range) -> None:
    """Has ranges go to a profiler from now on.

    Args:
        recording: its `events` are None while no profile runs.
        range: the context of a range of that name.
    """
    _Profiler.recording, _Profiler.range = recording, range


def is_running() -> bool:
    """True if there is a profile to add to."""
    recording = _Profiler.recording
    return recording is not None and recording.events is not None


def named_range(name: str):
    """A context: a range of the profile that runs, or nothing."""
    return _Profiler.range(name) if is_running() else _NOTHING


def items_in_ranges(iterator, name: str):
    """The items, each made in a range, if a profile runs as they begin."""
    return _in_ranges(iterator, name) if is_running() else iterator


def _in_ranges(iterator, name: str):
    end = object()
    while True:
        with named_range(name):
            item = next(iterator, end)
        if item is end:
            return
        yield item
