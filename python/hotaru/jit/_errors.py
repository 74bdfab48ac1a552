"""Errors of TorchScript programs."""

from __future__ import annotations

import builtins
import functools


class Error(RuntimeError):
    """A TorchScript program failed; `message` is the error without stack."""

    message = ""


@functools.cache
def _error_class(name: str) -> type[Error]:
    """Error, and the exception that the program raised, in one class."""
    raised = getattr(builtins, name.rpartition(".")[2], None)
    if not (isinstance(raised, type) and issubclass(raised, Exception)):
        return Error
    if issubclass(Error, raised):
        return Error
    return type(raised.__name__, (Error, raised), {"__module__": "hotaru.jit"})


def make_error(what: str, class_name: str, message: str) -> Error:
    """The exception for a failure in the interpreter."""
    error = _error_class(class_name)(what)
    error.message = message
    return error
