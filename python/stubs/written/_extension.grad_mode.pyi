"""Switches for gradient recording, as contexts and decorators."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from typing_extensions import Self

_F = TypeVar("_F", bound=Callable[..., Any])

class _Mode:
    def clone(self) -> Self: ...
    def __call__(self, function: _F) -> _F: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...

class no_grad(_Mode):
    """Operators inside record no gradients."""

    @overload
    def __new__(cls, orig_func: _F) -> _F: ...  # type: ignore[misc]
    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...

class enable_grad(no_grad):
    """Operators inside record gradients, also within no_grad."""

    @overload
    def __new__(cls, orig_func: _F) -> _F: ...  # type: ignore[misc]
    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...

class set_grad_enabled(_Mode):
    """Sets recording at once; as a context, until its end."""

    mode: bool
    def __init__(self, mode: bool) -> None: ...

class inference_mode(_Mode):
    """no_grad that `is_inference_mode_enabled` can tell."""

    mode: bool
    @overload
    def __new__(cls, mode: _F) -> _F: ...  # type: ignore[misc]
    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
