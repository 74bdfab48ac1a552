"""Checkpoints of tensors in safetensors files, as Hugging Face has them.

With `save_distributed` every rank writes its parts, and a file says where in
the whole they begin; else one rank writes whole tensors and an index of them.
"""

from __future__ import annotations

import json
from dataclasses import replace

from ... import Size, weights
from ...futures import Future
from ._consolidate_hf_safetensors import consolidate_safetensors_files
from ._hf_files import (
    OFFSETS,
    HuggingFaceStorageReader,
    _HFStorageInfo,
    file_name,
    write_index,
)
from .filesystem import FileSystemWriter
from .metadata import Metadata
from .planner import SavePlan, SavePlanner, WriteItem, WriteItemType
from .storage import WriteResult

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]


class HuggingFaceStorageWriter(FileSystemWriter):
    """Writes safetensors files; ValueError for what is no tensor.

    Args:
        fqn_to_index_mapping: the number of the file for each name, from 1.
        save_distributed: every rank writes its parts.
        enable_consolidation: they go into `path`/sharded, and the coordinator
            puts whole tensors into `path` after it.
    """

    def __init__(
        self,
        path: str,
        fqn_to_index_mapping: dict[str, int] | None = None,
        thread_count: int = 1,
        save_distributed: bool = False,
        enable_consolidation: bool = False,
        thread_count_consolidation: int = 1,
    ) -> None:
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
        described = {"format": "pt", "DCP_VERSION": "1.0", OFFSETS: json.dumps(offsets)}
        if not self.save_distributed:
            described = {"format": "pt"}
        weights.save_file(tensors, self.path / name, described)
        return results

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """The index of whole tensors; parts have none."""
        if self.enable_consolidation:
            consolidate_safetensors_files(
                str(self.path),
                str(self.consolidated_output_path),
                self.fqn_to_index_mapping
                or dict.fromkeys(metadata.state_dict_metadata, 1),
            )
            return
        if not self.save_distributed:
            found = [r for rs in results for r in rs]
            write_index(
                self.path,
                {r.index.fqn: r.storage_data.relative_path for r in found},
                sum(r.size_in_bytes for r in found),
            )
