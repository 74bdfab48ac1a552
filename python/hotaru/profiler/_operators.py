"""Operators in a profile: those that Python calls, seen by a mode.

What they call of each other is told of them (`_inner`); backward passes show
by their nodes and kernels.
"""

from __future__ import annotations

import time

from .. import _C
from .._C import Tensor
from .._overrides import is_answered
from ..overrides import TorchFunctionMode
from ._events import FunctionEvent, new_id
from ._flops import flops_of
from ._inner import CALLS, Row, inner
from ._inputs import bound, kept, shapes_of, values_of
from ._ranges import note, recording

_OF_SYMBOLS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
_NAMES = {
    **{f"__{k}__": v for k, v in _OF_SYMBOLS.items()},
    **{f"__r{k}__": v for k, v in _OF_SYMBOLS.items()},
    **{f"__i{k}__": f"{v}_" for k, v in _OF_SYMBOLS.items()},
    **{f"__{k}__": k for k in ("eq", "ne", "lt", "le", "gt", "ge")},
    "__rsub__": "rsub",
    "__neg__": "neg",
    "__abs__": "abs",
    "__invert__": "bitwise_not",
}


# Reversed, they are given the other operand first.
_SWAPPED = frozenset(
    f"__r{k}__"
    for k in ("truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift")
)
_TO_THE_END = 2**63 - 1


def operator_of(func, args: tuple) -> tuple[str, tuple] | None:
    """The operator's name and arguments; None for others, as the shape."""
    if isinstance(func, _C.Op):
        return func.__name__, args
    name = getattr(func, "__name__", "")
    if name == "__getitem__" and len(args) == 2:
        return _of_item(*args)
    if name not in _NAMES:
        return None
    return _NAMES[name], args[::-1] if name in _SWAPPED else args


def _of_item(x, key) -> tuple[str, tuple] | None:
    if isinstance(key, int):
        return "select", (x, 0, key)
    if isinstance(key, slice):
        start, stop = key.start or 0, key.stop
        stop = _TO_THE_END if stop is None else stop
        return "slice", (x, 0, start, stop, key.step or 1)
    if isinstance(key, (Tensor, list)):
        return "index", (x, [key])
    return None


class Operators(TorchFunctionMode):
    """Adds the operators of this thread to the profile that runs."""

    # Graphs run as ever: kernels of replays are noted elsewhere.
    _takes_notes = True
    # Its recording is over; a thread that did not end it may still have it.
    _over = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self._over or recording.events is None:
            return func(*args, **kwargs)
        if isinstance(func, _C.Function) and not is_answered(types, args, kwargs):
            with self:  # what it is made of is seen
                return func.__wrapped__(*args, **kwargs)
        operator = operator_of(func, args)
        if operator is None:
            return func(*args, **kwargs)
        name, inputs = operator
        call = None
        if recording.shapes or name in CALLS:
            named = {k: kept(v) for k, v in kwargs.items()} if kwargs else None
            call = name, kept(inputs), named  # before it writes into any
        start = time.perf_counter_ns()
        try:
            return func(*args, **kwargs)
        finally:
            note("operator", f"aten::{name}", start, call=call)

    def leave(self) -> None:
        """Takes the mode away, from under others that are inside of it."""
        self._over = True
        above = []
        while _C._len_torch_function_stack():
            mode = _C._pop_torch_function_stack()
            if mode is self:
                break
            above.append(mode)
        for mode in reversed(above):
            _C._push_on_torch_function_stack(mode)


def told(calls: list, shapes: bool, flops: bool) -> list[FunctionEvent]:
    """Tells events of operators their inputs; those of what is inside of them.

    Args:
        calls: events, each with its operator's name and what `kept` gives of
            the arguments.
        shapes, flops: whether inputs and counts are to be told.
    """
    inside: list[FunctionEvent] = []
    for event, (name, args, kwargs) in calls:
        kwargs = kwargs or {}
        inputs = bound(name, args, kwargs)
        if inputs is None:
            inputs = [*args, *kwargs.values()]
        else:
            rows, span = inner(name, inputs), event.time_range
            inside += _events_of(rows, event, span.start, span.end, shapes, flops)
            event.flops = flops_of(name, inputs) if flops else 0
        if shapes:
            event.input_shapes = shapes_of(inputs)
            event.concrete_inputs = values_of(inputs)
    return inside


# Time that a row takes that is not where the time goes, in microseconds.
_INSTANT = 1e-3


def _events_of(
    rows: tuple[Row, ...],
    parent: FunctionEvent,
    start: float,
    end: float,
    shapes: bool,
    flops: bool,
) -> list[FunctionEvent]:
    """Events one after the other, in the parent's time.

    How long each took nobody has measured: the last one that works has all of
    the time but instants, and so the kernels.
    """
    if not rows:
        return []
    sizes = [row.size for row in rows]
    instant = min(_INSTANT, (end - start) / (2 * sum(sizes)))
    left = sum(sizes)
    works = max((i for i, row in enumerate(rows) if row.works), default=-1)
    events = []
    for i, row in enumerate(rows):
        left -= row.size
        # Rounded sums must not lie outside of the parent.
        stop = min(start + instant * row.size, end)
        if i >= works >= 0:
            stop = end - instant * left
        event = FunctionEvent(
            new_id(),
            f"aten::{row.name}",
            parent.thread,
            start,
            stop,
            input_shapes=row.shapes if shapes else None,
            concrete_inputs=row.values if shapes else None,
            stack=parent.stack,
            kind="operator",
            flops=row.flops if flops else 0,
        )
        event.is_estimated, event.works = True, i == works
        events.append(event)
        events += _events_of(row.rows, event, start, stop, shapes, flops)
        start = stop
    return events
