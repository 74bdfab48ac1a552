"""What profiles are made of, by the names of `torch.autograd`."""

from __future__ import annotations

from ..profiler._events import (
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
)
from ..profiler._table import _time as _format_time

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "_format_time",
]
