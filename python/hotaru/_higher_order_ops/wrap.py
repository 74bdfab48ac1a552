"""Functions that run in a mode, as operators."""

from __future__ import annotations

from .. import _C
from ._operator import HigherOrderOperator

__all__ = ["wrap_with_autocast", "wrap_with_set_grad_enabled"]


def _with_grad(enabled: bool, function, *args):
    before = _C.is_grad_enabled()
    _C._set_grad_enabled(enabled)
    try:
        return function(*args)
    finally:
        _C._set_grad_enabled(before)


def _with_autocast(device, dtype, enabled, cache, function, *args):
    from ..amp import autocast

    with autocast(device, dtype=dtype, enabled=enabled, cache_enabled=cache):
        return function(*args)


#: wrap_with_autocast(device, dtype, enabled, cache_enabled, function, *args)
wrap_with_autocast = HigherOrderOperator("wrap_with_autocast", _with_autocast)
#: wrap_with_set_grad_enabled(enabled, function, *args)
wrap_with_set_grad_enabled = HigherOrderOperator(
    "wrap_with_set_grad_enabled", _with_grad
)
