"""The switches of gradient recording under PyTorch's name."""

from __future__ import annotations

from .. import _C
from .._extension.grad_mode import (
    _Mode,
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class set_multithreading_enabled(_Mode):  # noqa: N801
    """Sets whether this thread's backward passes may use further threads.

    They never do: a pass runs in the thread that calls it, on the streams of
    the forward pass. What was set can be asked and is given back.
    """

    def __new__(cls, mode: bool):
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        self.prev = _C._is_multithreading_enabled()
        self.mode = mode
        _C._set_multithreading_enabled(mode)

    def __call__(self, function):
        _C._set_multithreading_enabled(self.prev)
        return super().__call__(function)

    def __enter__(self) -> None:
        _C._set_multithreading_enabled(self.mode)

    def __exit__(self, *error: object) -> None:
        _C._set_multithreading_enabled(self.prev)

    def clone(self) -> set_multithreading_enabled:
        return set_multithreading_enabled(self.mode)


def is_multithreading_enabled() -> bool:
    """Tells what `set_multithreading_enabled` has set last in this thread."""
    return _C._is_multithreading_enabled()
