"""Types for annotations."""

from __future__ import annotations

import builtins
import os
import typing

from . import Size, Tensor, device, dtype, layout
from .storage import TypedStorage, UntypedStorage

__all__ = ["Device", "FileLike", "Number", "Storage"]

_TensorOrTensors = typing.Union[Tensor, typing.Sequence[Tensor]]
_dtype = dtype
_device = device
_layout = layout
_size = typing.Union[Size, list[int], tuple[int, ...]]
_int = builtins.int
_float = builtins.float
_bool = builtins.bool
_complex = builtins.complex
Number = builtins.int | builtins.float | builtins.bool
Device = typing.Union[device, str, int, None]
FileLike = typing.Union[str, os.PathLike, typing.IO[bytes]]
Storage = typing.Union[TypedStorage, UntypedStorage]
