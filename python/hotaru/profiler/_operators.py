"""Operators in a profile: those that Python calls, seen by a mode.

What C++ calls of others, in operators and backward passes, shows by its kernels
alone.
"""

from __future__ import annotations

import time

from .. import _C
from .._C import Tensor
from ..overrides import TorchFunctionMode
from ._ranges import note, recording

_OF_SYMBOLS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "pow",
    "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip
_NAMES = {
    **{f"__{k}__": v for k, v in _OF_SYMBOLS.items()},
    **{f"__r{k}__": v for k, v in _OF_SYMBOLS.items()},
    **{f"__i{k}__": f"{v}_" for k, v in _OF_SYMBOLS.items()},
    **{f"__{k}__": k for k in ("eq", "ne", "lt", "le", "gt", "ge")},
    "__rsub__": "rsub", "__neg__": "neg", "__abs__": "abs",
    "__invert__": "bitwise_not",
}  # fmt: skip


def operator_name(func, args: tuple) -> str | None:
    """The operator's name; None for what is none, as the shape."""
    if isinstance(func, _C.Op):
        return func.__name__
    name = getattr(func, "__name__", "")
    if name == "__getitem__" and len(args) == 2:
        return _of_item(args[1])
    return _NAMES.get(name)


def _of_item(key) -> str | None:
    if isinstance(key, int):
        return "select"
    if isinstance(key, slice):
        return "slice"
    return "index" if isinstance(key, (Tensor, list)) else None


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
        if isinstance(func, _C.Function) and not types:
            with self:  # what it is made of is seen
                return func.__wrapped__(*args, **kwargs)
        name = operator_name(func, args)
        if name is None:
            return func(*args, **kwargs)
        start = time.perf_counter_ns()
        try:
            return func(*args, **kwargs)
        finally:
            inputs = (*args, *kwargs.values())
            note("operator", f"aten::{name}", start, inputs)

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
