"""Ranges that parts of this package add to a profile that runs."""

from __future__ import annotations

import contextlib
import sys

_RANGES = "hotaru.profiler._ranges"
_NOTHING = contextlib.nullcontext()


def is_running() -> bool:
    """Whether there is a profile to add to."""
    # The profiler is imported by those who use it alone.
    ranges = sys.modules.get(_RANGES)
    return ranges is not None and ranges.recording.events is not None


def named_range(name: str):
    """A context: a range of the profile that runs, or nothing."""
    if not is_running():
        return _NOTHING
    return sys.modules[_RANGES].record_function(name)


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
