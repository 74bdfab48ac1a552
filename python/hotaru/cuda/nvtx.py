"""Marks in the timelines of NVIDIA's profilers.

They go to libnvToolsExt where the machine has it, looked for at the first
mark. Elsewhere nobody reads them, and only the depth of ranges is counted.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import threading

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_depth = threading.local()
_ids = itertools.count(1)


@functools.cache
def _library():
    for name in ("libnvToolsExt.so.1", "libnvtx3interop.so.1"):
        try:
            library = ctypes.CDLL(name)
            library.nvtxRangeStartA.restype = ctypes.c_uint64
            library.nvtxRangeEnd.argtypes = (ctypes.c_uint64,)
        except (OSError, AttributeError):
            continue
        return library
    return None


def range_push(msg: str) -> int:
    """Begins a range inside those that this thread began; returns how many
    there were.
    """
    depth = getattr(_depth, "value", 0)
    _depth.value = depth + 1
    if _library():
        _library().nvtxRangePushA(msg.encode())
    return depth


def range_pop() -> int:
    """Ends the range that this thread began last; returns how many are left,
    -1 if there was none.
    """
    depth = getattr(_depth, "value", 0) - 1
    if depth < 0:
        return -1
    _depth.value = depth
    if _library():
        _library().nvtxRangePop()
    return depth


def range_start(msg: str) -> int:
    """Begins a range that any thread may end; returns its number."""
    library = _library()
    return library.nvtxRangeStartA(msg.encode()) if library else next(_ids)


def range_end(range_id: int) -> None:
    """Ends a range of `range_start`."""
    if _library():
        _library().nvtxRangeEnd(range_id)


def mark(msg: str) -> None:
    """Marks a moment."""
    if _library():
        _library().nvtxMarkA(msg.encode())


@contextlib.contextmanager
def range(msg: str, *args, **kwargs):
    """A range for a ``with`` block or a decorated function, named
    ``msg.format(*args, **kwargs)``.
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
