"""Metadata of a checkpoint, in PyTorch's classes: its file `.metadata` is a
pickle of a `Metadata`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Union

from ... import (
    Size,
    Tensor,
    channels_last,
    contiguous_format,
    get_default_dtype,
    preserve_format,
    strided,
)
from ... import dtype as Dtype
from ... import layout as Layout
from ... import memory_format as MemoryFormat

__all__ = [
    "BytesStorageMetadata",
    "ChunkStorageMetadata",
    "Metadata",
    "MetadataIndex",
    "StorageMeta",
    "TensorProperties",
    "TensorStorageMetadata",
]


@dataclass
class ChunkStorageMetadata:
    """A box of a tensor: where it begins and how large it is."""

    offsets: Size
    sizes: Size


class _MEM_FORMAT_ENCODING(Enum):  # noqa: N801  (the format's name)
    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


_FORMATS = {
    _MEM_FORMAT_ENCODING.TORCH_CONTIGUOUS_FORMAT: contiguous_format,
    _MEM_FORMAT_ENCODING.TORCH_CHANNELS_LAST: channels_last,
    _MEM_FORMAT_ENCODING.TORCH_PRESERVE_FORMAT: preserve_format,
}


@dataclass
class TensorProperties:
    """Properties of a tensor besides its size; files tell its dtype by it."""

    dtype: Dtype = field(default_factory=get_default_dtype)
    layout: Layout = strided
    requires_grad: bool = False
    memory_format: MemoryFormat = contiguous_format
    pin_memory: bool = False

    def __getstate__(self) -> tuple:
        encoded = next(k for k, v in _FORMATS.items() if v == self.memory_format)
        return (self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory)

    def __setstate__(self, state: tuple) -> None:
        (self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory) = state
        if encoded not in _FORMATS:
            raise RuntimeError(f"Invalid torch.memory_format encoding: {encoded}")
        self.memory_format = _FORMATS[encoded]

    @staticmethod
    def create_from_tensor(tensor: Tensor) -> TensorProperties:
        """Properties of a tensor."""
        return TensorProperties(dtype=tensor.dtype, requires_grad=tensor.requires_grad)


@dataclass
class TensorStorageMetadata:
    """A tensor: what it is like, its size, and the boxes that are stored."""

    properties: TensorProperties
    size: Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """Value that is no tensor."""


STORAGE_TYPES = Union[TensorStorageMetadata, BytesStorageMetadata]
STATE_DICT_TYPE = dict[str, Any]


@dataclass
class StorageMeta:
    """Where and by whom a checkpoint was written."""

    checkpoint_id: Any = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """Every entry by its name, and what planner and storage add: the paths of
    the names (`planner_data`), and the file and place of each (`storage_data`).
    """

    state_dict_metadata: dict[str, STORAGE_TYPES]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True)
class MetadataIndex:
    """An entry by its name, of a tensor the box that begins at `offset`;
    `index` tells where it is in the list of boxes, and does not tell it apart.
    """

    fqn: str
    offset: Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)

    def __init__(
        self, fqn: str, offset: Sequence[int] | None = None, index: int | None = None
    ) -> None:
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "index", index)
        if offset is not None:
            object.__setattr__(self, "offset", Size(offset))
