"""Switches for gradient recording, as contexts and decorators."""

from __future__ import annotations

import functools
import warnings

from .. import _C

_CLASS = (
    "Decorating classes is deprecated and will be disabled in future versions. "
    "You should only decorate functions or methods. To preserve the current "
    "behavior of class decoration, you can directly decorate the `__init__` "
    "method and nothing else."
)


class _Mode:
    """A context that is also a decorator, with parentheses or without."""

    def __new__(cls, orig_func=None):
        if orig_func is None:
            return object.__new__(cls)
        if not callable(orig_func):
            raise TypeError(
                f"{cls.__name__} takes a function to decorate, got "
                f"{type(orig_func).__name__}"
            )
        return cls()(orig_func)

    def clone(self):
        return type(self)()

    def __call__(self, function):
        import inspect  # slow to import

        if isinstance(function, type):
            # As in PyTorch what is left of the class is what makes objects.
            warnings.warn(_CLASS, FutureWarning, stacklevel=2)
            construct = function

            def function(*args, **kwargs):
                return construct(*args, **kwargs)

        elif inspect.isgeneratorfunction(function):
            return _each_step(self.clone, function)

        @functools.wraps(function)
        def run(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return run


def _each_step(context, function):
    """The generator function with `context()` around whatever it runs.

    Between its steps the caller's mode holds.
    """

    @functools.wraps(function)
    def run(*args, **kwargs):
        steps = function(*args, **kwargs)
        resume, given = steps.send, None
        while True:
            try:
                with context():
                    result = resume(given)
            except StopIteration as end:
                return end.value
            try:
                given = yield result
                resume = steps.send
            except GeneratorExit:
                with context():
                    steps.close()
                raise
            except BaseException as error:
                resume, given = steps.throw, error

    return run


class no_grad(_Mode):  # noqa: N801
    """Operators inside record no gradients."""

    _enabled = False

    def __init__(self, orig_func=None) -> None:
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
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be "
                f"bool, not {type(mode).__name__}"
            )
        self.mode = mode
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

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(_Mode):  # noqa: N801
    """no_grad that `is_inference_mode_enabled` can tell."""

    def __new__(cls, mode=True):
        return super().__new__(cls, None if isinstance(mode, bool) else mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
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
