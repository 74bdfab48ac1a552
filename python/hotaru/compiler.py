"""What programs ask of PyTorch's compiler: there is none, so no code is ever
traced for it. Calls that are repeated can be captured: see `hotaru.graphs`.
"""

from __future__ import annotations

__all__ = ["disable", "is_compiling", "is_dynamo_compiling", "is_exporting"]


def is_compiling() -> bool:
    """Whether the code that asks is being traced: never."""
    return False


def is_dynamo_compiling() -> bool:
    """As `is_compiling`."""
    return False


def is_exporting() -> bool:
    """Whether the code that asks is being exported: never."""
    return False


def disable(fn=None, recursive: bool = True, *, reason: str | None = None):
    """A function, or a decorator of one, that no compiler traces: itself."""
    return (lambda function: function) if fn is None else fn


# What PyTorch's own decorators are made of.
_disable_dynamo = disable
