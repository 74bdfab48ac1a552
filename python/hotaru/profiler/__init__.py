"""Where the time goes: every kernel call, with its stream and thread.

    with hotaru.profiler.profile() as prof:
        model(x)
    print(prof.key_averages().table(sort_by="self_cpu_time_total"))
    prof.export_chrome_trace("trace.json")   # open it at ui.perfetto.dev

What is recorded are the calls through the door: kernels, not the operators that
compose them. Queued streams appear as rows of their own, so that a trace shows
what overlapped.
"""

from __future__ import annotations

from ._averages import EventList, FunctionEventAvg
from ._profile import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
)

__all__ = [
    "EventList",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
]
