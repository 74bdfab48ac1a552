"""Starting and stopping the profiler; ranges; traces."""

from __future__ import annotations

import enum
import json
import os
import threading
import time
from collections.abc import Callable

from .. import _C
from ._averages import EventList, FunctionEvent


class ProfilerActivity(enum.Enum):
    """What PyTorch lets one choose; hotaru records the CPU."""

    CPU = 0
    CUDA = 1


class ProfilerAction(enum.Enum):
    """What a schedule wants done in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """Steps to skip, warm up and record in turn; ``repeat`` 0: for ever."""
    if min(wait, warmup, active - 1, repeat, skip_first) < 0:
        raise ValueError(
            "schedule: wait, warmup, repeat and skip_first must not be "
            "negative, active must be positive"
        )

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        period = wait + warmup + active
        if step < 0 or (repeat > 0 and step >= repeat * period):
            return ProfilerAction.NONE
        at = step % period
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        last = at == period - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


# The process of a trace that has a row for each stream; no real process.
_STREAMS = 0

# Ranges of the profile that runs, or None.
_ranges: list[FunctionEvent] | None = None


class record_function:  # noqa: N801
    """Names what happens in a ``with`` block, or in calls of a function."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self._starts: list[int] = []

    def __enter__(self) -> record_function:
        self._starts.append(time.perf_counter_ns())
        return self

    def __exit__(self, *error) -> None:
        start = self._starts.pop()
        ranges = _ranges
        if ranges is not None:
            took = time.perf_counter_ns() - start
            event = FunctionEvent(
                self.name,
                threading.get_native_id(),
                0,
                start / 1e3,
                took / 1e3,
                [],
                is_range=True,
            )
            ranges.append(event)

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def named(*args, **kwargs):
            with record_function(self.name):
                return function(*args, **kwargs)

        return named


class profile:  # noqa: N801
    """Records every kernel call of the process for a ``with`` block.

    Args:
        activities: accepted for PyTorch's sake; the CPU is always recorded.
        schedule: what to do in which step, see ``schedule``; None records all.
        on_trace_ready: called with this object when a recording is complete.
        record_shapes: keep the shapes of the operands.

    One profiler runs at a time; a second one raises RuntimeError. Queued
    streams are synchronised at the end, so that their calls are in.
    """

    def __init__(
        self,
        *,
        activities=None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], object] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
    ) -> None:
        self._schedule = schedule
        self._on_trace_ready = on_trace_ready
        self._record_shapes = record_shapes
        self._recording = False
        self._events = EventList()
        self.step_num = 0

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error) -> None:
        self.stop()

    def start(self) -> None:
        """Begins; with a schedule, at its first step."""
        self._apply()

    def stop(self) -> None:
        """Ends the recording, if one runs."""
        if self._recording:
            self._finish()

    def step(self) -> None:
        """The next step of the schedule begins."""
        if self._schedule is not None:
            before = self._schedule(self.step_num)
            if before is ProfilerAction.RECORD_AND_SAVE and self._recording:
                self._finish()
        self.step_num += 1
        self._apply()

    def events(self) -> EventList:
        """The calls and ranges of the last recording, by start."""
        return self._events

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """The events merged by name; ``.table()`` prints them."""
        return self._events.key_averages(group_by_input_shape)

    def export_chrome_trace(self, path) -> None:
        """Writes a trace that ui.perfetto.dev and chrome://tracing open.

        Calls lie in the row of their thread, and those of queued streams a
        second time in the row of their stream.
        """
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_chrome_trace(self._events), file)

    def _apply(self) -> None:
        action = ProfilerAction.RECORD
        if self._schedule is not None:
            action = self._schedule(self.step_num)
        wanted = action in (
            ProfilerAction.RECORD,
            ProfilerAction.RECORD_AND_SAVE,
        )
        if wanted and not self._recording:
            global _ranges
            _C._start_profiling(self._record_shapes)
            _ranges = []
            self._recording = True

    def _finish(self) -> None:
        global _ranges
        try:
            _C._synchronize()
        finally:
            calls = _C._stop_profiling()
            ranges, _ranges = _ranges or [], None
            self._recording = False
            self._events = _events(calls, ranges)
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)


def _events(calls: list, ranges: list[FunctionEvent]) -> EventList:
    events = EventList(ranges)
    for name, stream, thread, start, duration, shapes in calls:
        events.append(
            FunctionEvent(
                name, thread, stream, start / 1e3, duration / 1e3, shapes
            )
        )
    events.sort(key=lambda event: (event.start, -event.duration))
    _charge(events)
    return events


def _charge(events: EventList) -> None:
    """A range is charged what its thread did not spend in events inside it."""
    open_events: dict[int, list[FunctionEvent]] = {}
    for event in events:
        event.self_duration = event.duration
        stack = open_events.setdefault(event.thread, [])
        while stack and stack[-1].start + stack[-1].duration <= event.start:
            stack.pop()
        if stack:
            stack[-1].self_duration -= event.duration
        stack.append(event)


def _chrome_trace(events: EventList) -> dict:
    process = os.getpid()
    rows: list[dict] = []
    streams: dict[int, int] = {}
    for event in events:
        row = {
            "ph": "X",
            "name": event.name,
            "cat": "user_annotation" if event.is_range else "kernel",
            "pid": process,
            "tid": event.thread,
            "ts": event.start,
            "dur": event.duration,
            "args": {"stream": event.stream},
        }
        if event.input_shapes:
            row["args"]["shapes"] = [
                list(shape) for shape in event.input_shapes
            ]
        rows.append(row)
        if event.stream:
            number = streams.setdefault(event.stream, len(streams) + 1)
            rows.append({**row, "pid": _STREAMS, "tid": number})

    def name(kind: str, pid: int, tid: int, text: str) -> None:
        row = {"ph": "M", "name": kind, "pid": pid, "tid": tid}
        rows.append({**row, "args": {"name": text}})

    name("process_name", process, 0, "threads")
    if streams:
        name("process_name", _STREAMS, 0, "streams")
    for number in streams.values():
        name("thread_name", _STREAMS, number, f"stream {number}")
    return {"traceEvents": rows, "displayTimeUnit": "ns"}
