"""Parts in safetensors files put together to whole tensors."""

from __future__ import annotations

import os
from pathlib import Path

from ... import empty, weights
from ._hf_files import HuggingFaceStorageReader, file_name, write_index
from .default_planner import DefaultLoadPlanner
from .planner import LoadPlan
from .planner_helpers import read_items

__all__ = ["consolidate_safetensors_files"]


def consolidate_safetensors_files(
    input_dir: str | os.PathLike,
    output_dir: str | os.PathLike,
    fqn_to_index_mapping: dict[str, int],
    num_threads: int = 1,
) -> None:
    """Reads the parts of each tensor in a folder, and writes them whole into
    another one: into as many files as the mapping has numbers, with an index.
    """
    reader = HuggingFaceStorageReader(str(input_dir))
    metadata = reader.read_metadata()
    reader.set_up_storage_reader(metadata, True)
    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    count = max(fqn_to_index_mapping.values(), default=1)
    files: dict[str, str] = {}
    size = 0
    for index in sorted(set(fqn_to_index_mapping.values())):
        state = {
            name: empty(tuple(stored.size), dtype=stored.properties.dtype)
            for name, stored in metadata.state_dict_metadata.items()
            if fqn_to_index_mapping.get(name, 1) == index
        }
        planner = DefaultLoadPlanner(flatten_state_dict=False)
        planner.set_up_planner(state, metadata, True)
        items = [
            item
            for name, value in state.items()
            for item in read_items(name, metadata.state_dict_metadata[name], value)
        ]
        reader.read_data(LoadPlan(items), planner)
        name = file_name(index, count, None)
        weights.save_file(state, folder / name, {"format": "pt"})
        files.update(dict.fromkeys(state, name))
        size += sum(v.numel() * v.itemsize for v in state.values())
    write_index(folder, files, size)
