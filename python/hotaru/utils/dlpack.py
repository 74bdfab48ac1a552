"""DLPack by the names that it had before it was a protocol."""

from __future__ import annotations

from .. import Tensor, from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor):
    """A capsule that `from_dlpack` of any library takes once."""
    return tensor.__dlpack__()
