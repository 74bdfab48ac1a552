"""What programs ask of PyTorch's tracer by its own name: see `compiler`."""

from __future__ import annotations

from ..compiler import disable, is_compiling

__all__ = ["disable", "is_compiling", "is_dynamo_supported"]


def is_dynamo_supported() -> bool:
    """Whether code can be traced: never, there is no tracer."""
    return False
