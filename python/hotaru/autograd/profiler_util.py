"""Parts that profiles are made of, by the names of `torch.autograd`."""

from __future__ import annotations

from ..profiler._events import EventList, FunctionEvent, FunctionEventAvg
from ..profiler._records import EnforceUnique, Interval, Kernel, MemRecordsAcc
from ..profiler._table import time_text as _format_time
from ..profiler._times import FormattedTimesMixin

__all__ = [
    "EnforceUnique",
    "EventList",
    "FormattedTimesMixin",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "MemRecordsAcc",
    "_format_time",
]
