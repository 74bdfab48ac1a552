"""Reading files of weights, all of one or tensor by tensor."""

from __future__ import annotations

import os

from .. import _C
from ._blocks import Blocks

_FRAMEWORKS = ("pt", "torch", "pytorch")


def load_file(
    filename: str | os.PathLike,
    device: str | int | _C.device = "cpu",
    *,
    backend: str = "mmap",
    blocks: str = "float32",
) -> dict[str, _C.Tensor | Blocks]:
    """All tensors of a file by their names, in the order of their bytes.

    Args:
        filename: a safetensors or GGUF file, or the index of a sharded model.
        device: where the tensors go.
        backend: "mmap" or "pread", which does the same: files are mapped.
        blocks: what GGUF's quantised tensors become: "float32", or "keep":
            `Blocks`, which lie in the mapping.

    Raises:
        FileNotFoundError: no such file.
        RuntimeError: a file that is broken or of another format; the text
            names file, tensor and offset.
        ValueError: another word for `blocks` or `backend`.
    """
    if blocks not in ("float32", "keep"):
        raise ValueError(f"blocks {blocks!r}: there are 'float32' and 'keep'")
    with safe_open(filename, "pt", device, backend=backend) as file:
        if blocks == "float32":
            return file.get_tensors()
        return {
            name: file.get_blocks(name)
            if file.has_blocks(name)
            else file.get_tensor(name)
            for name in file.offset_keys()
        }


def load(data: bytes) -> dict[str, _C.Tensor]:
    """All tensors of a file that is in memory; it is copied once."""
    file = _C._open_weights_bytes(bytes(data), "bytes")
    return {name: file.tensor(name) for name in file.names()}


class safe_open:  # noqa: N801
    """An open file of weights, whose tensors are read when asked for.

    Args:
        filename: a safetensors or GGUF file, or the index of a sharded model.
        framework: "pt": tensors are this library's.
        device: where tensors go.
        backend: "mmap" or "pread", which does the same: files are mapped.

    Raises:
        FileNotFoundError: no such file.
        RuntimeError: a file that is broken or of another format; the text
            names file, tensor and offset.
    """

    def __init__(
        self,
        filename: str | os.PathLike,
        framework: str = "pt",
        device: str | int | _C.device = "cpu",
        *,
        backend: str = "mmap",
    ) -> None:
        if framework not in _FRAMEWORKS:
            raise ValueError(
                f"framework {framework!r}: tensors are this library's, which "
                "is called 'pt'"
            )
        if backend not in ("mmap", "pread"):
            raise ValueError(f"backend {backend!r}: there are 'mmap' and 'pread'")
        path = os.fspath(filename)
        os.stat(path)  # the error of a file that is not there
        self._device = _C.device(device)
        self._path = path
        self._file = _C._open_weights(os.fsdecode(path))

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *raised) -> None:
        self._file = None

    def _opened(self):
        if self._file is None:
            raise RuntimeError(f"{self._path}: the file was closed")
        return self._file

    def keys(self) -> list[str]:
        """The names of the tensors, sorted."""
        return sorted(self._opened().names())

    def offset_keys(self) -> list[str]:
        """The names of the tensors in the order of their bytes."""
        return self._opened().names()

    def metadata(self) -> dict | None:
        """Returns what the file says besides tensors; None if nothing.

        Strings in safetensors; GGUF has numbers, bools and lists, too.
        """
        return self._opened().metadata() or None

    def get_tensor(self, name: str) -> _C.Tensor:
        """A tensor by its name."""
        return self._placed(self._opened().tensor(name))

    def get_tensors(self) -> dict[str, _C.Tensor]:
        """All tensors by their names, in the order of their bytes."""
        return {name: self.get_tensor(name) for name in self.offset_keys()}

    def has_blocks(self, name: str) -> bool:
        """Tells whether a tensor lies in quantised blocks that are read."""
        _, kind, dtype, *_ = self._opened().info(name)
        return dtype is not None and kind[0] == "Q"

    def get_blocks(self, name: str) -> Blocks:
        """A tensor in the blocks in which it lies; RuntimeError for others."""
        opened = self._opened()
        _, kind, _, shape, *_ = opened.info(name)
        return Blocks(self._placed(opened.blocks(name)), kind, shape)

    def get_slice(self, name: str) -> TensorSlice:
        """Gives access to parts of a tensor, of which alone bytes are read."""
        return TensorSlice(self, name)

    def _placed(self, tensor: _C.Tensor) -> _C.Tensor:
        if self._device.type == "cpu":
            return tensor
        return tensor.to(self._device)


class TensorSlice:
    """A tensor of an open file, from which parts are taken by `[...]`."""

    def __init__(self, file: safe_open, name: str) -> None:
        self._file, self._name = file, name
        opened = file._opened()
        _, self._type, _, self._shape, *_ = opened.info(name)

    def get_shape(self) -> list[int]:
        """The sizes of the whole tensor."""
        return list(self._shape)

    def get_dtype(self) -> str:
        """The type by the file's own name: "F32", "BF16", "Q4_K"."""
        return self._type

    def __getitem__(self, index) -> _C.Tensor:
        whole = self._file._opened().tensor(self._name)
        return self._file._placed(whole[index])
