"""Checkpoints in folders: a file or more of each rank, and `.metadata`."""

from __future__ import annotations

import io
import os
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ... import Tensor, save
from ... import load as _load
from ..._extension.new_file import new_file
from ...futures import Future
from . import _metadata_file
from ._metadata_file import _StorageInfo
from .metadata import Metadata, MetadataIndex, StorageMeta
from .planner import (
    LoadItemType,
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    WriteItem,
    WriteItemType,
)
from .storage import StorageReader, StorageWriter, Where, WriteResult

__all__ = ["FileSystemReader", "FileSystemWriter"]

CURRENT_DCP_VERSION = "1.0.0"
DEFAULT_SUFFIX = ".distcp"
_METADATA = ".metadata"


def check_id(checkpoint_id) -> None:
    if not checkpoint_id:
        raise RuntimeError(
            "`checkpoint_id` must be specified if storage_reader/"
            "storage_writer is None."
        )


@dataclass
class _StoragePrefix:
    prefix: str


class FileSystemWriter(StorageWriter):
    """Writes into a folder.

    Args:
        single_file_per_rank: else a file for each item.
        sync_files: whether files are on the disk when the save is over.
        overwrite: whether a checkpoint that is there may be replaced;
            RuntimeError where not.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
        **kwargs,
    ) -> None:
        if kwargs:
            raise NotImplementedError(
                f"FileSystemWriter: {', '.join(sorted(kwargs))} is not there"
            )
        self.path = Path(path)
        self.single_file_per_rank = single_file_per_rank
        self.sync_files, self.overwrite = sync_files, overwrite
        self.save_id = str(uuid.uuid4())

    def reset(self, checkpoint_id: Where = None) -> None:
        """A new checkpoint begins."""
        if checkpoint_id:
            self.path = Path(checkpoint_id)
        self.save_id = str(uuid.uuid4())

    def set_up_storage_writer(self, is_coordinator: bool, *args, **kwargs) -> None:
        """Nothing before the first write."""
        self.rank = kwargs.get("rank", 0)

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Makes the folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        if (self.path / _METADATA).exists() and not self.overwrite:
            raise RuntimeError(
                f"Checkpoint already exists and self.overwrite={self.overwrite}."
            )
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Names of each rank's files."""
        return [
            replace(plan, storage_data=_StoragePrefix(f"__{i}_"))
            for i, plan in enumerate(plans)
        ]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future:
        """One item behind the other."""
        items = sorted(plan.items, key=lambda i: i.type is not WriteItemType.BYTE_IO)
        results: list[WriteResult] = []
        bins = [items] if self.single_file_per_rank else [[i] for i in items]
        for number, bin_ in enumerate(bins):
            if bin_:
                name = f"{plan.storage_data.prefix}{number}{DEFAULT_SUFFIX}"
                results += self._write_file(name, bin_, planner)
        future: Future = Future()
        future.set_result(results)
        return future

    def _write_file(
        self, name: str, items: list[WriteItem], planner: SavePlanner
    ) -> list[WriteResult]:
        results = []
        with new_file(self.path / name) as file:
            for item in items:
                begin = file.tell()
                _write(file, item, planner.resolve_data(item))
                length = file.tell() - begin
                info = _StorageInfo(name, begin, length)
                results.append(WriteResult(item.index, length, info))
            if self.sync_files:
                file.flush()
                os.fsync(file.fileno())
        return results

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Writes `.metadata` in one step: it is whole, or not there."""
        metadata = replace(
            metadata,
            version=CURRENT_DCP_VERSION,
            storage_data={r.index: r.storage_data for rs in results for r in rs},
            storage_meta=self.storage_meta(),
        )
        with new_file(self.path / _METADATA) as file:
            _metadata_file.write(metadata, file)
            if self.sync_files:
                file.flush()
                os.fsync(file.fileno())

    def storage_meta(self) -> StorageMeta:
        """The folder and this save."""
        return StorageMeta(str(self.path), self.save_id)

    @property
    def checkpoint_id(self) -> Path:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Where) -> bool:
        """True if it is a path."""
        return checkpoint_id is not None and "://" not in str(checkpoint_id)


def _write(file, item: WriteItem, data: Any) -> None:
    if item.type is WriteItemType.BYTE_IO:
        file.write(data.getbuffer())
        return
    # Parts that views show are written, not all of their memory.
    dense = data.detach().cpu()
    if dense.untyped_storage().nbytes() != dense.numel() * dense.itemsize:
        dense = dense.clone()
    buffer = io.BytesIO()
    save(dense, buffer)
    file.write(buffer.getbuffer())


class FileSystemReader(StorageReader):
    """Reads from a folder: tensors and plain values, nothing that runs."""

    def __init__(self, path: str | os.PathLike, *args, **kwargs) -> None:
        self.path = Path(path)
        self.storage_data: dict[MetadataIndex, _StorageInfo] = {}

    def reset(self, checkpoint_id: Where = None) -> None:
        """Another checkpoint is read."""
        self.storage_data = {}
        if checkpoint_id:
            self.path = Path(checkpoint_id)

    def read_metadata(self, *args, **kwargs) -> Metadata:
        """The file `.metadata`; FileNotFoundError without one."""
        path = self.path / _METADATA
        found = _metadata_file.read(path.read_bytes(), str(path))
        if found.storage_meta is None:
            found.storage_meta = StorageMeta()
        return found

    def set_up_storage_reader(
        self, metadata: Metadata, is_coordinator: bool, *args, **kwargs
    ) -> None:
        """Takes the items' places."""
        self.storage_data = metadata.storage_data
        if not isinstance(self.storage_data, dict):
            raise RuntimeError(f"{self.path}: metadata without places of items")

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """As it is."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """As they are."""
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future:
        """File by file.

        Raises:
            RuntimeError: a file that is too short, or has another tensor than
                the metadata says.
        """
        by_file: dict[str, list[tuple[_StorageInfo, ReadItem]]] = {}
        for item in plan.items:
            info = self._place_of(item.storage_index)
            by_file.setdefault(info.relative_path, []).append((info, item))
        for name, pairs in by_file.items():
            with open(self._file(name), "rb") as file:
                for info, item in sorted(pairs, key=lambda p: p[0].offset):
                    _read(file, info, item, planner)
        future: Future = Future()
        future.set_result(None)
        return future

    def _place_of(self, index: MetadataIndex) -> _StorageInfo:
        info = self.storage_data.get(index)
        if not isinstance(info, _StorageInfo):
            raise RuntimeError(f"{self.path}: no place is known of {index}")
        if info.transform_descriptors:
            raise NotImplementedError(
                f"{self.path}: {index.fqn} was transformed by "
                f"{list(info.transform_descriptors)} when it was written"
            )
        return info

    def _file(self, name: str) -> Path:
        """A file of the folder; metadata can't name others."""
        path = (self.path / name).resolve()
        if self.path.resolve() not in path.parents:
            raise RuntimeError(f"{name} is not in the folder {self.path}")
        return path

    @property
    def checkpoint_id(self) -> Path:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Where) -> bool:
        """True if it is a path."""
        return FileSystemWriter.validate_checkpoint_id(checkpoint_id)


def _read(file, info: _StorageInfo, item: ReadItem, planner: LoadPlanner) -> None:
    from .default_planner import narrowed

    file.seek(info.offset)
    data = file.read(info.length)
    fqn = item.storage_index.fqn
    if len(data) != info.length:
        raise RuntimeError(
            f"{file.name}: {fqn} has {info.length} bytes at {info.offset}, of "
            f"which {len(data)} are there"
        )
    if item.type is LoadItemType.BYTE_IO:
        planner.load_bytes(item, io.BytesIO(data))
        return
    stored = _load(io.BytesIO(data), map_location="cpu", weights_only=True)
    if not isinstance(stored, Tensor):
        raise RuntimeError(f"{file.name}: {fqn} is no tensor there")
    if (
        any(
            begin + length > size
            for begin, length, size in zip(
                item.storage_offsets, item.lengths, stored.shape
            )
        )
        or len(item.lengths) != stored.dim()
    ):
        raise RuntimeError(
            f"{file.name}: {fqn} is of the shape {tuple(stored.shape)}, not as "
            "the metadata says"
        )
    part = narrowed(stored, item.storage_offsets, item.lengths)
    target = planner.resolve_tensor(item).detach()
    if target.shape != part.shape:
        raise AssertionError(
            f"req {item.storage_index} mismatch sizes {target.size()} vs {part.size()}"
        )
    target.copy_(part)
    planner.commit_tensor(item, target)
