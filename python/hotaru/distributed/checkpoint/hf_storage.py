"""Checkpoints of tensors in safetensors files, as the Hugging Face hub has them.

With `save_distributed` every rank writes its parts, and a file says where in
the whole they begin; else one rank writes whole tensors and an index of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from ... import Size, weights
from ... import dtype as Dtype
from ...futures import Future
from ._consolidate_hf_safetensors import consolidate_safetensors_files
from .default_planner import narrowed
from .filesystem import FileSystemReader, FileSystemWriter
from .metadata import (
    ChunkStorageMetadata, Metadata, MetadataIndex, StorageMeta,
    TensorProperties, TensorStorageMetadata,
)  # fmt: skip
from .planner import (
    LoadPlan, LoadPlanner, SavePlan, SavePlanner, WriteItem, WriteItemType,
)  # fmt: skip
from .storage import WriteResult

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]

INDEX = "model.safetensors.index.json"
SUFFIX = ".safetensors"
_OFFSETS = "DCP_SHARDING_INFO"


@dataclass
class _HFStorageInfo:
    """Where a box is, and what it is like."""

    relative_path: str
    shape: Size
    dtype: Dtype


def file_name(index: int, count: int, shard: int | None) -> str:
    """Of the index-th of `count` files, of the shard-th rank."""
    name = f"model-{index:05}-of-{count:05}{SUFFIX}"
    return name if shard is None else f"shard-{shard:05}-{name}"


class HuggingFaceStorageWriter(FileSystemWriter):
    """Writes safetensors files; ValueError for what is no tensor.

    Args:
        fqn_to_index_mapping: the number of the file for each name, from 1.
        save_distributed: every rank writes its parts.
        enable_consolidation: they go into `path`/sharded, and the coordinator
            puts whole tensors into `path` after it.
    """

    def __init__(
        self, path: str, fqn_to_index_mapping: dict[str, int] | None = None,
        thread_count: int = 1, save_distributed: bool = False,
        enable_consolidation: bool = False, thread_count_consolidation: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(path)
        self.fqn_to_index_mapping = fqn_to_index_mapping
        self.save_distributed = save_distributed
        self.enable_consolidation = enable_consolidation
        self.consolidated_output_path = None
        if enable_consolidation:
            self.consolidated_output_path = self.path
            self.path = self.path / "sharded"

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Each rank's number, where all write."""
        return [
            replace(plan, storage_data=i if self.save_distributed else None)
            for i, plan in enumerate(plans, start=1)
        ]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future:
        """A file for each number of the mapping."""
        files: dict[int, list[WriteItem]] = {}
        mapping = self.fqn_to_index_mapping or {}
        for item in plan.items:
            files.setdefault(mapping.get(item.index.fqn, 1), []).append(item)
        count = max(mapping.values(), default=1)
        results: list[WriteResult] = []
        for index, items in files.items():
            name = file_name(index, count, plan.storage_data)
            results += self._write_tensors(name, items, planner)
        future: Future = Future()
        future.set_result(results)
        return future

    def _write_tensors(
        self, name: str, items: list[WriteItem], planner: SavePlanner
    ) -> list[WriteResult]:
        tensors, offsets, results = {}, {}, []
        for item in items:
            fqn, data = item.index.fqn, item.tensor_data
            if item.type is WriteItemType.BYTE_IO or data is None:
                raise ValueError(
                    f"{fqn} is no tensor: safetensors files have nothing else"
                )
            tensor = planner.resolve_data(item).detach().cpu().contiguous()
            tensors[fqn] = tensor.clone()
            offsets[fqn] = {"saved_offsets": list(data.chunk.offsets)}
            info = _HFStorageInfo(name, Size(tensor.shape), tensor.dtype)
            size = tensor.numel() * tensor.itemsize
            results.append(WriteResult(item.index, size, info))
        described = {
            "format": "pt", "DCP_VERSION": "1.0", _OFFSETS: json.dumps(offsets)
        }  # fmt: skip
        if not self.save_distributed:
            described = {"format": "pt"}
        weights.save_file(tensors, self.path / name, described)
        return results

    def finish(
        self, metadata: Metadata, results: list[list[WriteResult]]
    ) -> None:
        """The index of whole tensors; parts have none."""
        if self.enable_consolidation:
            consolidate_safetensors_files(
                str(self.path), str(self.consolidated_output_path),
                self.fqn_to_index_mapping
                or dict.fromkeys(metadata.state_dict_metadata, 1),
            )  # fmt: skip
            return
        if not self.save_distributed:
            found = [r for rs in results for r in rs]
            write_index(
                self.path,
                {r.index.fqn: r.storage_data.relative_path for r in found},
                sum(r.size_in_bytes for r in found),
            )


def write_index(folder: Path, files: dict[str, str], size: int) -> None:
    """Which tensor is in which file."""
    text = {"metadata": {"total_size": size}, "weight_map": files}
    with open(Path(folder) / INDEX, "w") as file:
        json.dump(text, file, indent=2)


class HuggingFaceStorageReader(FileSystemReader):
    """Reads all safetensors files of a folder, whole tensors or parts."""

    def __init__(self, path: str, thread_count: int = 1) -> None:
        super().__init__(path)

    def read_metadata(self, *args, **kwargs) -> Metadata:
        """What the files' headers say; FileNotFoundError without a file."""
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
    text = (described or {}).get(_OFFSETS)
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
