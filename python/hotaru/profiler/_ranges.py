"""Additions of Python to a profile that runs: ranges and operators."""

from __future__ import annotations

import functools
import sys
import threading
import time

from .. import _C
from .._extension import profiled
from .._own_names import is_own
from ._events import FunctionEvent, new_id
from ._inputs import kept, shapes_of, values_of


class _Recording:
    """Wishes of the profile that runs; None of them without one."""

    events: list[FunctionEvent] | None = None
    # Operators' events with what they were given, to be told at the end.
    calls: list[tuple[FunctionEvent, tuple]]
    shapes = False
    stacks = False
    flops = False
    # When times are 0, in nanoseconds of `time.perf_counter_ns`.
    origin = 0


recording = _Recording()


def begin(shapes: bool, stacks: bool, flops: bool, origin: int) -> None:
    """From now on there are events, of times since `origin`."""
    recording.shapes, recording.stacks = shapes, stacks
    recording.flops, recording.origin = flops, origin
    recording.events, recording.calls = [], []
    _C._set_range_listener(_note_of_script)


def end() -> tuple[list[FunctionEvent], list[tuple[FunctionEvent, tuple]]]:
    """The events since `begin`, and what operators among them were given."""
    _C._set_range_listener(None)
    events, recording.events = recording.events, None
    calls, recording.calls = recording.calls, []
    return events or [], calls


def note(
    kind: str,
    name: str,
    start: int,
    inputs: tuple = (),
    kwinputs: dict | None = None,
    call: tuple | None = None,
) -> None:
    """Adds what began at `start`, in nanoseconds, and ends now.

    Args:
        call: what an operator was given, as `_operators.told` takes it.
    """
    events = recording.events
    if events is None:
        return
    end = time.perf_counter_ns()
    given = kept(inputs) if inputs and recording.shapes else None
    event = FunctionEvent(
        new_id(),
        name,
        threading.get_native_id(),
        (start - recording.origin) / 1e3,
        (end - recording.origin) / 1e3,
        input_shapes=given and shapes_of(given),
        stack=_callers() if recording.stacks else None,
        concrete_inputs=given and values_of(given),
        kind=kind,
        kwinputs=kwinputs,
    )
    events.append(event)
    if call is not None:
        recording.calls.append((event, call))


def _note_of_script(name: str, start: int, args: str | None) -> None:
    """Adds a range of a TorchScript program."""
    note("range", name, start, () if args is None else (args,))


def _callers() -> list[str]:
    """Lists the frames outside of this package, the nearest first."""
    found, frame = [], sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if not is_own(frame.f_globals.get("__name__"), "profiler"):
            place = f"{code.co_filename}({frame.f_lineno})"
            found.append(f"{place}: {code.co_name}")
        frame = frame.f_back
    return found


class record_function:  # noqa: N801
    """Names what happens in a ``with`` block, or in calls of a function.

    Args:
        name: of the range.
        args: a text that a profile takes for an input, one without a shape.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self._inputs = () if args is None else (args,)
        self._starts: list[int] = []

    def __enter__(self) -> record_function:
        self._starts.append(time.perf_counter_ns())
        return self

    def __exit__(self, *error) -> None:
        note("range", self.name, self._starts.pop(), self._inputs)

    def __call__(self, function):
        @functools.wraps(function)
        def named(*args, **kwargs):
            with type(self)(self.name, *self._inputs):
                return function(*args, **kwargs)

        return named


class RecordFunctionFast:
    """A range with inputs, of which a profile keeps the shapes.

    Args:
        name: of the range.
        input_values: a list or tuple of inputs.
        keyword_values: inputs by name; a profile keeps what is no tensor.

    Raises:
        TypeError: arguments of other types.
    """

    def __init__(self, name: str, input_values=None, keyword_values=None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        if not isinstance(input_values, (list, tuple, type(None))):
            raise TypeError("input_values must be a list or tuple")
        if not isinstance(keyword_values, (dict, type(None))):
            raise TypeError("keyword_values must be dict")
        self._name = name
        self._inputs = tuple(input_values or ())
        self._keywords = {
            key: value
            for key, value in (keyword_values or {}).items()
            if isinstance(value, (int, float, str, bool))
        }
        self._starts: list[int] = []

    def __enter__(self) -> None:
        self._starts.append(time.perf_counter_ns())

    def __exit__(self, *error) -> None:
        start = self._starts.pop()
        note("range", self._name, start, self._inputs, self._keywords)


class Handle:
    """A range that is open until it is closed."""

    def __init__(self, name: str, inputs: tuple) -> None:
        self._name = name
        self._inputs = inputs
        self._start: int | None = time.perf_counter_ns()

    def close(self) -> None:
        """Ends the range, once."""
        if self._start is not None:
            note("range", self._name, self._start, self._inputs)
        self._start = None


profiled.register(recording, record_function)
