"""The file `.metadata`: a pickle, read by names that it may have only."""

from __future__ import annotations

import io
import pathlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass

from ... import Size
from ... import dtype as Dtype
from ...serialization._names import _get_layout
from ...serialization._pickler import _Pickler
from . import metadata
from .metadata import Metadata


@dataclass
class _StorageInfo:
    """Where an item is."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] | None = None

    def __getstate__(self) -> dict:
        return {k: v for k, v in self.__dict__.items() if v is not None}


# PyTorch has it in that module.
_StorageInfo.__module__ = f"{__package__}.filesystem"

_MODULE = "torch.distributed.checkpoint."
_CLASSES = {
    f"{_MODULE}metadata.{name}": getattr(metadata, name)
    for name in (
        "BytesStorageMetadata",
        "ChunkStorageMetadata",
        "Metadata",
        "MetadataIndex",
        "StorageMeta",
        "TensorProperties",
        "TensorStorageMetadata",
        "_MEM_FORMAT_ENCODING",
    )
}


def write(found: Metadata, file) -> None:
    """Pickles it under the names that PyTorch has for the classes."""
    _Pickler(file, 2).dump(found)


def read(data: bytes, where: str) -> Metadata:
    """The metadata in a file's bytes.

    Raises:
        RuntimeError: it is none, or names what metadata has not.
    """
    try:
        found = _Unpickler(io.BytesIO(data)).load()
    except Exception as error:
        raise RuntimeError(f"{where}: no metadata of a checkpoint: {error}") from error
    if not isinstance(found, Metadata) or not isinstance(
        found.state_dict_metadata, dict
    ):
        raise RuntimeError(
            f"{where}: no metadata of a checkpoint but a {type(found).__name__}"
        )
    return found


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str):
        full = f"{module}.{name}"
        if full in _CLASSES:
            return _CLASSES[full]
        if full == f"{_MODULE}filesystem._StorageInfo":
            return _StorageInfo
        if full == "torch.Size":
            return Size
        if full == "torch.serialization._get_layout":
            return _get_layout
        if module in ("pathlib", "pathlib._local") and name in (
            "Path",
            "PosixPath",
            "PurePosixPath",
            "WindowsPath",
        ):
            return pathlib.PurePath
        if module == "torch":
            import hotaru

            found = getattr(hotaru, name, None)
            if isinstance(found, Dtype):
                return found
        if full in ("builtins.set", "builtins.frozenset"):
            return {"set": set, "frozenset": frozenset}[name]
        if full == "collections.OrderedDict":
            from collections import OrderedDict

            return OrderedDict
        raise pickle.UnpicklingError(f"{full} has no place in metadata")
