"""Errors of the part of the compiler that reads Python source."""

from __future__ import annotations


class FrontendError(RuntimeError):
    """The source of a function cannot be read."""


class UnknownAnnotationError(RuntimeError):
    """An annotation is no type; `script` makes a ValueError of it."""


class NotSupportedError(FrontendError):
    """The source holds a construct that is no part of TorchScript."""
