"""TorchScript: archives that `torch.jit.save` wrote, loaded and run."""

from __future__ import annotations

from ._errors import Error
from ._module import RecursiveScriptModule, ScriptModule, load

__all__ = ["Error", "RecursiveScriptModule", "ScriptModule", "load"]


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
