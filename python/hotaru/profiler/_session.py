"""The recording that runs: one in a process."""

from __future__ import annotations

import atexit
from typing import NamedTuple

from .. import _C
from . import _ranges
from ._events import FunctionEvent
from ._operators import Operators, told


class Found(NamedTuple):
    """Contents of a recording: see `_C._stop_profiling`, and what was noted.

    `origin` is when its events' times are 0, in nanoseconds of their clock;
    `error` is what a stream or device reports that was waited for.
    """

    noted: list[FunctionEvent]
    calls: list
    nodes: list
    memory: list
    others: list
    lost: int
    origin: int
    complaint: str
    error: RuntimeError | None = None


_running: Operators | None = None


def begin(
    *,
    shapes: bool,
    stacks: bool,
    flops: bool,
    memory: bool,
    devices: bool,
    cpu: bool,
    origin: int,
) -> Operators:
    """Begins to record; what it gives is to be left by who began, at the end.

    A recording that runs ends, and what it has is lost: who began it gets
    nothing, as with PyTorch.
    """
    global _running
    if _running is not None and (error := end().error):
        raise error
    _C._start_profiling(shapes, devices, memory)
    # Records must not outlive the interpreter.
    atexit.register(end)
    _ranges.begin(shapes, stacks, flops, origin)
    _running = Operators()
    if cpu:
        _running.__enter__()
    return _running


def end() -> Found | None:
    """Ends the recording that runs, whoever began it; None without one."""
    global _running
    operators, _running = _running, None
    if operators is None:
        return None
    atexit.unregister(end)
    operators.leave()
    error = None
    try:
        _C._synchronize()
        _C._synchronize_profiled()
    except RuntimeError as reported:
        error = reported
    noted, told_of = _ranges.end()
    calls, *found = _C._stop_profiling()
    wanted = _ranges.recording
    noted += told(told_of, wanted.shapes, wanted.flops)
    nodes, memory, others, lost, complaint = found
    origin = wanted.origin
    return Found(noted, calls, nodes, memory, others, lost, origin, complaint, error)
