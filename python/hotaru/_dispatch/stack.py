"""The modes of a thread, and calls that nobody answers."""

from __future__ import annotations

import threading
from contextlib import contextmanager

from .. import _C


class _Thread(threading.local):
    def __init__(self) -> None:
        self.modes: list = []
        self.recording: bool | None = None


_current = _Thread()


def push(mode) -> None:
    """The mode that is asked first from now on."""
    _current.modes.append(mode)
    _C._count_dispatch_modes(1)


def pop():
    """Takes the mode away that is asked first."""
    mode = _current.modes.pop()
    _C._count_dispatch_modes(-1)
    return mode


def modes() -> list:
    """Modes of this thread, the one asked first at the end."""
    return _current.modes


@contextmanager
def without_last():
    """Takes that mode away while it answers."""
    mode = pop()
    try:
        yield mode
    finally:
        push(mode)


@contextmanager
def nobody_asked():
    """Inside, operators of this thread are as they are for plain tensors."""
    before = _C._without_dispatch(True)
    try:
        yield
    finally:
        _C._without_dispatch(before)


@contextmanager
def asked():
    """Around one question: `again` goes back to how it was asked."""
    before = _current.recording
    _current.recording = _C.is_grad_enabled()
    try:
        yield
    finally:
        _current.recording = before


@contextmanager
def again():
    """While a class or mode answers: calls are asked for and recorded as the
    one that it answers.
    """
    before = _C._without_dispatch(False)
    recording = _C.is_grad_enabled()
    if _current.recording is not None:
        _C._set_grad_enabled(_current.recording)
    try:
        yield
    finally:
        _C._set_grad_enabled(recording)
        _C._without_dispatch(before)


def native(function, args: tuple, kwargs: dict):
    """The function as it is for plain tensors."""
    with nobody_asked():
        return function(*args, **kwargs)
