"""Where the time goes: kernel calls, with stream and thread, and operators.

    with hotaru.profiler.profile() as prof:
        model(x)
    print(prof.key_averages().table(sort_by="self_cpu_time_total"))
    prof.export_chrome_trace("trace.json")   # open it at ui.perfetto.dev

Kernel calls are all that go through the door ("exp"). Operators are those that
Python calls ("aten::exp") with what PyTorch's call of each other; backward
passes show by their nodes ("ExpBackward0") and kernels. Queued streams appear
as rows of their own, so that a trace shows what overlapped; so do the streams
of CUDA devices, with the times of the devices.
"""

from __future__ import annotations

import types

from .. import _C
from .._own_names import add_parts as _add_parts
from ._activities import ProfilerActivity, supported_activities
from ._config import _ExperimentalConfig
from ._device_type import DeviceType
from ._events import EventList, FunctionEvent, FunctionEventAvg
from ._profile import (
    ProfilerAction,
    _default_schedule_fn,
    profile,
    schedule,
    tensorboard_trace_handler,
)
from ._ranges import RecordFunctionFast, record_function

__all__ = [
    "DeviceType",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def kineto_available() -> bool:
    """False: what is recorded does not come from that library."""
    return False


if not hasattr(_C, "_profiler"):
    _C._profiler = types.ModuleType(f"{_C.__name__}._profiler")
_C._profiler._RecordFunctionFast = RecordFunctionFast
_C._profiler._ExperimentalConfig = _ExperimentalConfig

_add_parts(
    __package__,
    {
        "profiler": {
            "ProfilerAction": ProfilerAction,
            "_default_schedule_fn": _default_schedule_fn,
            "profile": profile,
            "schedule": schedule,
            "supported_activities": supported_activities,
            "tensorboard_trace_handler": tensorboard_trace_handler,
        }
    },
)
