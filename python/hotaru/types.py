"""Types for annotations."""

from __future__ import annotations

import builtins
import os
import typing

from . import Size, Tensor, device, dtype, layout

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


class Storage:
    """Base of storages, for annotations: nobody derives from it.

    NotImplementedError: from every method.
    """

    device: _device
    dtype: _dtype

    def element_size(self) -> int:
        """Bytes of an element."""
        raise NotImplementedError

    def nbytes(self) -> int:
        """Bytes of all."""
        raise NotImplementedError

    def data_ptr(self) -> int:
        """The address."""
        raise NotImplementedError

    def cpu(self) -> Storage:
        """A copy in the CPU's memory."""
        raise NotImplementedError

    def is_shared(self) -> bool:
        """Tells whether other processes see it."""
        raise NotImplementedError

    def share_memory_(self) -> Storage:
        """Moves to memory that other processes see."""
        raise NotImplementedError

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> Storage:
        """Maps the contents of a file."""
        raise NotImplementedError
