"""TorchScript: archives that `torch.jit.save` wrote, loaded and run."""

from __future__ import annotations

from ._async import Future, _fork, _wait, fork, wait
from ._errors import Error
from ._module import RecursiveScriptModule, ScriptModule, load, save

__all__ = [
    "Error",
    "Future",
    "RecursiveScriptModule",
    "ScriptModule",
    "_fork",
    "_wait",
    "fork",
    "load",
    "save",
    "wait",
]


def is_scripting() -> bool:
    """False: this is Python."""
    return False


def is_tracing() -> bool:
    """False: this is Python."""
    return False


def ignore(drop=False, **kwargs):
    """Marks a function for TorchScript; does nothing in Python."""
    if callable(drop):
        return drop
    return lambda function: function


unused = export = ignore
