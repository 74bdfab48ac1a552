"""Switches for gradient recording, as contexts and decorators."""

from __future__ import annotations

import functools

from . import _C


class _Mode:
    """A context that is also a decorator, with parentheses or without."""

    def __new__(cls, function=None):
        self = object.__new__(cls)
        if callable(function):
            self.__init__()
            return self(function)
        return self

    def clone(self):
        return type(self)()

    def __call__(self, function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return run


class no_grad(_Mode):  # noqa: N801
    """Operators inside record no gradients."""

    _enabled = False

    def __init__(self, function=None) -> None:
        self._previous = True

    def __enter__(self) -> None:
        self._previous = _C.is_grad_enabled()
        _C._set_grad_enabled(self._enabled)

    def __exit__(self, *error) -> None:
        _C._set_grad_enabled(self._previous)


class enable_grad(no_grad):  # noqa: N801
    """Operators inside record gradients, also within no_grad."""

    _enabled = True


class set_grad_enabled(_Mode):  # noqa: N801
    """Sets recording at once; as a context, until its end."""

    def __new__(cls, mode: bool):
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._previous = _C.is_grad_enabled()
        _C._set_grad_enabled(self.mode)

    def clone(self):
        return set_grad_enabled(self.mode)

    def __call__(self, function):
        _C._set_grad_enabled(self._previous)
        return super().__call__(function)

    def __enter__(self) -> None:
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *error) -> None:
        _C._set_grad_enabled(self._previous)


class inference_mode(_Mode):  # noqa: N801
    """no_grad that `is_inference_mode_enabled` can tell."""

    def __new__(cls, mode=True):
        return super().__new__(cls, mode)

    def __init__(self, mode=True) -> None:
        self.mode = mode if isinstance(mode, bool) else True
        self._previous = (True, False)

    def clone(self):
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self._previous = _C.is_grad_enabled(), _C.is_inference_mode_enabled()
        _C._set_grad_enabled(not self.mode and self._previous[0])
        _C._set_inference_mode(self.mode)

    def __exit__(self, *error) -> None:
        _C._set_grad_enabled(self._previous[0])
        _C._set_inference_mode(self._previous[1])
