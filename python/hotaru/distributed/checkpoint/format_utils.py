"""Between checkpoints in folders and files of `torch.save`."""

from __future__ import annotations

import os
from typing import Any

from ... import load, save
from ._steps import Steps
from .default_planner import _EmptyStateDictLoadPlanner
from .filesystem import FileSystemReader, FileSystemWriter
from .state_dict_loader import (
    _load,
    _load_state_dict,  # noqa: F401  (PyTorch has it here, too)
)
from .state_dict_saver import _save

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(
    dcp_checkpoint_dir: str | os.PathLike, torch_save_path: str | os.PathLike
) -> None:
    """Writes a checkpoint, whole, into one file."""
    found: dict[str, Any] = {}
    _load(
        found,
        FileSystemReader(dcp_checkpoint_dir),
        Steps(None, False, 0),
        _EmptyStateDictLoadPlanner(),
    )
    save(found, torch_save_path)


def torch_save_to_dcp(
    torch_save_path: str | os.PathLike, dcp_checkpoint_dir: str | os.PathLike
) -> None:
    """Writes the state in a file into a folder."""
    state = load(torch_save_path, map_location="cpu", weights_only=True)
    _save(state, FileSystemWriter(dcp_checkpoint_dir), Steps(None, False, 0), None)
