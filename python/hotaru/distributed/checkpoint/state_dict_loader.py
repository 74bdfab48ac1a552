"""Loading a state, each rank its parts."""

from __future__ import annotations

import os
from typing import Any

from ... import no_grad
from ._steps import Steps
from .default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from .filesystem import FileSystemReader, check_id
from .metadata import STATE_DICT_TYPE, Metadata
from .planner import LoadPlan, LoadPlanner
from .stateful import Stateful
from .storage import StorageReader

__all__ = ["load", "load_state_dict"]


def reader_of(
    reader: StorageReader | None, checkpoint_id: str | os.PathLike | None
) -> StorageReader:
    """The reader, or one of a folder; RuntimeError without either."""
    if reader is None:
        check_id(checkpoint_id)
        return FileSystemReader(checkpoint_id)
    reader.reset(checkpoint_id)
    return reader


@no_grad()
def load(
    state_dict: STATE_DICT_TYPE,
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_reader: StorageReader | None = None,
    planner: LoadPlanner | None = None,
    process_group=None,
    no_dist: bool = False,
) -> None:
    """Reads a checkpoint into a state: its tensors are written into, other
    values replaced, and what has a state of its own is given it.

    Ranks may be another number than saved it, and parts cut otherwise: each
    reads what it needs.

    Raises:
        CheckpointException: what went wrong on any rank: what the checkpoint
            has not, tensors of other sizes, damaged files.
        RuntimeError: neither folder nor reader.
    """
    reader = reader_of(storage_reader, checkpoint_id)
    steps = Steps(process_group, not no_dist, 0)
    values = {
        key: value.state_dict() if isinstance(value, Stateful) else value
        for key, value in state_dict.items()
    }
    _load(values, reader, steps, planner)
    for key, value in list(state_dict.items()):
        if isinstance(value, Stateful):
            value.load_state_dict(values[key])
        else:
            state_dict[key] = values[key]


@no_grad()
def load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: StorageReader,
    process_group=None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: LoadPlanner | None = None,
) -> None:
    """The older form of `load`."""
    storage_reader.reset()
    _load_state_dict(
        state_dict, storage_reader, process_group, coordinator_rank, no_dist, planner
    )


@no_grad()
def _load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: StorageReader,
    process_group=None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: LoadPlanner | None = None,
) -> None:
    """The same with a reader that is set up."""
    steps = Steps(process_group, not no_dist, coordinator_rank)
    _load(state_dict, storage_reader, steps, planner)


def _load(
    state_dict: STATE_DICT_TYPE,
    reader: StorageReader,
    steps: Steps,
    planner: LoadPlanner | None,
) -> None:
    planner = planner or DefaultLoadPlanner()

    def local() -> LoadPlan:
        metadata: Metadata = reader.read_metadata()
        planner.set_up_planner(state_dict, metadata, steps.is_coordinator)
        reader.set_up_storage_reader(metadata, steps.is_coordinator)
        return reader.prepare_local_plan(planner.create_local_plan())

    def decide(plans: list[LoadPlan]) -> list[LoadPlan]:
        return reader.prepare_global_plan(planner.create_global_plan(plans))

    plan = steps.reduce_scatter("plan", local, decide)

    def read() -> None:
        reader.read_data(planner.finish_plan(plan), planner).wait()

    steps.all_reduce("read", read, lambda results: None)


def _load_state_dict_from_keys(
    keys: set[str] | str | None = None,
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_reader: StorageReader | None = None,
    process_group=None,
) -> dict[str, Any]:
    """Reads what a checkpoint has under some names (all of them), whole."""
    reader = reader_of(storage_reader, checkpoint_id)
    names = {keys} if isinstance(keys, str) else keys
    found: dict[str, Any] = {}
    _load(
        found, reader, Steps(process_group, False, 0), _EmptyStateDictLoadPlanner(names)
    )
    return found
