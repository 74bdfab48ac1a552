"""Contents of files of weights, without reading a tensor."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .. import _C


@dataclass(frozen=True)
class TensorInfo:
    """Entry of a file about one tensor."""

    name: str
    type: str
    """By the file's own name: "F32", "Q4_K"."""
    dtype: _C.dtype | None
    """Type of the tensor that is read; None: it cannot be."""
    shape: tuple[int, ...]
    offset: int
    """From the beginning of the file, or of its part."""
    nbytes: int
    """In the file; 0 for types of unknown size."""
    file: str


@dataclass(frozen=True)
class FileInfo:
    """Contents of a file."""

    path: str
    format: str
    """"safetensors", "safetensors index", "GGUF 3"."""
    tensors: tuple[TensorInfo, ...]
    metadata: dict

    @property
    def numel(self) -> int:
        """Elements of all tensors."""
        total = 0
        for tensor in self.tensors:
            count = 1
            for size in tensor.shape:
                count *= size
            total += count
        return total

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors in the file."""
        return sum(tensor.nbytes for tensor in self.tensors)


def info(filename: str | os.PathLike) -> FileInfo:
    """Describes a file of weights: its tensors in the order of their bytes,
    and its metadata. Errors are those of `load_file`.
    """
    path = os.fsdecode(os.fspath(filename))
    os.stat(path)  # the error of a file that is not there
    file = _C._open_weights(path)
    paths = file.parts() or [path]
    tensors = tuple(
        TensorInfo(name, kind, dtype, tuple(shape), at, size, paths[part])
        for name, kind, dtype, shape, at, size, part in file.tensors()
    )
    return FileInfo(path, file.format, tensors, file.metadata())
