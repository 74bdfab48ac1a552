"""Questions of operators that were given what does not fit them.

Nothing here costs a call that fits.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import _C

_answers: list[Callable] = []


class _NoSize:
    """No size, before there are traces."""


def register(answer: Callable, size_type: type | None = None) -> None:
    """Has operators ask `answer(function, args, kwargs)`, which gives their
    result or NotImplemented.

    Args:
        size_type: of what stands for sizes in traces.
    """
    _answers.append(answer)
    if size_type is not None or len(_answers) == 1:
        _C._set_trace_hook(_ask, size_type or _NoSize)


def _ask(function, args: tuple, kwargs: dict):
    for answer in _answers:
        found = answer(function, args, kwargs)
        if found is not NotImplemented:
            return found
    return NotImplemented
