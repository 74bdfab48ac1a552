"""Tensors of one number where operators want a number, within `jvp`: there they
are constants, as no gradient is asked for.
"""

from __future__ import annotations

import threading

from .._C import Tensor
from .._extension import misfits as _misfits
from ..autograd._transforms import is_forward


class _State(threading.local):
    """Tells whether this thread is calling an operator again."""

    again = False


_state = _State()


def _as_number(value):
    """The number of a tensor that has one and wants a gradient."""
    if isinstance(value, Tensor) and value.dim() == 0 and value.requires_grad:
        return value.item()
    return value


def _answer(function, args: tuple, kwargs: dict):
    """The operator's result with numbers in place of as few such tensors as it
    takes, from the last one on.
    """
    if _state.again or not is_forward():
        return NotImplemented
    given, named = list(args), dict(kwargs)
    places = [
        *((named, key) for key in reversed(named)),
        *((given, place) for place in reversed(range(len(given)))),
    ]
    _state.again = True
    try:
        for holder, key in places:
            number = _as_number(holder[key])
            if number is holder[key]:
                continue
            holder[key] = number
            try:
                return function(*given, **named)
            except TypeError:
                continue
    finally:
        _state.again = False
    return NotImplemented


def install() -> None:
    """Has operators ask. To be called once."""
    _misfits.register(_answer)
