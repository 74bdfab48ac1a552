"""Safetensors files of tensors or of parts of them: names, and a reader."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ... import Size, weights
from ... import dtype as Dtype
from ..._extension.new_file import new_file
from ...futures import Future
from .default_planner import narrowed
from .filesystem import FileSystemReader
from .metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from .planner import LoadPlan, LoadPlanner

INDEX = "model.safetensors.index.json"
SUFFIX = ".safetensors"
OFFSETS = "DCP_SHARDING_INFO"


@dataclass
class _HFStorageInfo:
    """Where a box is, and what it is like."""

    relative_path: str
    shape: Size
    dtype: Dtype


def file_name(index: int, count: int, shard: int | None) -> str:
    """Names the index-th of `count` files, of the shard-th rank."""
    name = f"model-{index:05}-of-{count:05}{SUFFIX}"
    return name if shard is None else f"shard-{shard:05}-{name}"


def write_index(folder: Path, files: dict[str, str], size: int) -> None:
    """Which tensor is in which file."""
    text = {"metadata": {"total_size": size}, "weight_map": files}
    with new_file(Path(folder) / INDEX, "w") as file:
        json.dump(text, file, indent=2)


class HuggingFaceStorageReader(FileSystemReader):
    """Reads all safetensors files of a folder, whole tensors or parts."""

    def __init__(self, path: str, thread_count: int = 1) -> None:
        super().__init__(path)

    def read_metadata(self, *args, **kwargs) -> Metadata:
        """Reads what files' headers say; FileNotFoundError without a file."""
        stored: dict[str, TensorStorageMetadata] = {}
        places: dict[MetadataIndex, _HFStorageInfo] = {}
        files = sorted(self.path.glob(f"*{SUFFIX}"))
        if not files:
            raise FileNotFoundError(f"{self.path}: no {SUFFIX} file is there")
        for path in files:
            described = weights.info(path)
            offsets = _offsets_of(described.metadata, path)
            for each in described.tensors:
                name = each.name
                begin = offsets.get(name, [0] * len(each.shape))
                if len(begin) != len(each.shape):
                    raise RuntimeError(f"{path}: {name} begins at {begin}")
                _add(stored, name, each, begin)
                places[MetadataIndex(name, begin)] = _HFStorageInfo(
                    path.name, Size(each.shape), _dtype_of(each, path)
                )
        return Metadata(
            stored, storage_data=places, storage_meta=StorageMeta(str(self.path))
        )

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future:
        """File by file, only what is needed of each."""
        by_file: dict[str, list] = {}
        for item in plan.items:
            info = self.storage_data[item.storage_index]
            by_file.setdefault(info.relative_path, []).append(item)
        for name, items in by_file.items():
            with weights.safe_open(self._file(name), framework="pt") as file:
                for item in items:
                    whole = file.get_tensor(item.storage_index.fqn)
                    part = narrowed(whole, item.storage_offsets, item.lengths)
                    target = planner.resolve_tensor(item).detach()
                    target.copy_(part)
                    planner.commit_tensor(item, target)
        future: Future = Future()
        future.set_result(None)
        return future


def _offsets_of(described: dict | None, path: Path) -> dict[str, list[int]]:
    text = (described or {}).get(OFFSETS)
    if text is None:
        return {}
    try:
        return {k: list(v["saved_offsets"]) for k, v in json.loads(text).items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RuntimeError(
            f"{path}: where its parts begin is not readable: {error}"
        ) from error


def _dtype_of(each, path: Path) -> Dtype:
    if each.dtype is None:
        raise RuntimeError(f"{path}: {each.name} is of a dtype that is not known")
    return each.dtype


def _add(stored: dict, name: str, each, begin: list[int]) -> None:
    chunk = ChunkStorageMetadata(Size(begin), Size(each.shape))
    ends = [b + s for b, s in zip(begin, each.shape)]
    if name not in stored:
        properties = TensorProperties(dtype=each.dtype)
        stored[name] = TensorStorageMetadata(properties, Size(ends), [chunk])
        return
    known = stored[name]
    known.chunks.append(chunk)
    known.size = Size([max(a, b) for a, b in zip(known.size, ends)])
