"""Modes, which answer every call, and the switches of the protocol."""

from __future__ import annotations

import contextlib
import warnings

from .. import _C
from .._late import lent


class TorchFunctionMode:
    """Answers every call of a function of this package inside of its `with`.

    Subclasses define `__torch_function__(self, func, types, args, kwargs)`.
    While it runs the mode itself is not asked, those around it are.
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _C._push_on_torch_function_stack(self)
        return self

    def __exit__(self, *exception) -> None:
        _C._pop_torch_function_stack()

    @classmethod
    def push(cls, *args, **kwargs):
        """An instance, as the class itself makes it."""
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with "
            "just `with Mode()`",
            stacklevel=2,
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Calls every function as it is."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_function_mode_stack() -> list:
    """The modes of this thread, the one asked first last."""
    count = _C._len_torch_function_stack()
    return [_C._get_function_stack_at(i) for i in range(count)]


def _get_current_function_mode():
    """The mode that is asked first, or None."""
    stack = _get_current_function_mode_stack()
    return stack[-1] if stack else None


def _push_mode(mode) -> None:
    _C._push_on_torch_function_stack(mode)


def _pop_mode():
    return _C._pop_torch_function_stack()


@contextlib.contextmanager
def _pop_mode_temporarily():
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


class _EnableTorchFunction:
    """The protocol is on in this thread, whatever was switched off around it,
    from the making of the object to its end.
    """

    def __init__(self) -> None:
        self._before = (_C._without_subclasses(False), _C._without_overrides(False))

    def end(self) -> None:
        """Switches back, once."""
        if self._before is not None:
            subclasses, everything = self._before
            self._before = None
            _C._without_subclasses(subclasses)
            _C._without_overrides(everything)

    __del__ = end


@contextlib.contextmanager
def _enable_torch_function():
    """The protocol is on, whatever was switched off around it."""
    guard = _EnableTorchFunction()
    try:
        yield
    finally:
        guard.end()


@contextlib.contextmanager
def enable_reentrant_dispatch():
    """Calls inside of a handler are seen by the protocols again, and recorded
    if the call that it handles was.
    """
    with _enable_torch_function(), lent("dispatch_again")():
        yield
