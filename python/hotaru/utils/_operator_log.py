"""Which operators the two runs of a checkpointed function called."""

from __future__ import annotations

import sys

from .. import _C, Tensor
from .._overrides import is_answered
from .._own_names import is_own
from ..overrides import TorchFunctionMode
from ..profiler._operators import operator_of

_RULE = "-" * 80
_ADVICE = f"""\
{_RULE}
 ERROR: the two runs of a checkpointed function were not the same

 You are seeing this error because you passed `debug=True` to checkpoint and
 what was saved in the first run differs from what the second one saved. That is
 so where the runs called different operators: compare the two lists above, and
 find the first difference in the code by the callers listed with them.
{_RULE}"""


class _Run(TorchFunctionMode):
    """Lists the operators that Python calls inside of it, with callers."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, list[str]]] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if isinstance(func, _C.Function) and not is_answered(types, args, kwargs):
            with self:  # what it is made of is listed
                return func.__wrapped__(*args, **kwargs)
        result = func(*args, **kwargs)
        operator = operator_of(func, args)
        if operator is not None:
            name, args = operator
            inputs = ", ".join(
                [_described(a) for a in args]
                + [f"{k}={_described(v)}" for k, v in kwargs.items()]
            )
            line = f"aten::{name}({inputs}) -> {_described(result)}"
            self.calls.append((line, _callers()))
        return result


def _described(value) -> str:
    if isinstance(value, Tensor):
        kind = str(value.dtype).rpartition(".")[2]
        return f"{kind}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_described, value))}]"
    return repr(value)


def _callers() -> list[str]:
    """Lists the frames outside of this package, the nearest first."""
    found, frame = [], sys._getframe(2)
    while frame is not None:
        if not is_own(frame.f_globals.get("__name__")):
            code = frame.f_code
            place = f"{code.co_filename}:{frame.f_lineno}"
            found.append(f"{place}:{code.co_name}")
        frame = frame.f_back
    return found


class OperatorLog:
    """The operators of both runs."""

    def __init__(self) -> None:
        self._first, self._second = _Run(), _Run()

    def contexts(self) -> tuple:
        """For the first and for the second run."""
        return self._first, self._second

    def text(self) -> str:
        """Both lists, with callers and without, and what to do with them."""
        runs = (
            ("the original forward", self._first.calls),
            ("the recomputation", self._second.calls),
        )
        parts = [" An error happened while unpacking tensors\n"]
        for what, calls in runs:
            parts.append(f"{_RULE}\nCallers of the operators in {what}\n")
            for i, (line, callers) in enumerate(calls, 1):
                lines = [f"{line}   ({i} of {len(calls)})", *callers, ""]
                parts.append("\n".join(lines))
        for what, calls in runs:
            parts.append(f"{_RULE}\nOperators in {what}\n")
            parts += [line for line, _ in calls]
        return "\n".join([*parts, _ADVICE])
