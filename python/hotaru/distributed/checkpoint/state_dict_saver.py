"""Saving a state of which every rank has parts."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from enum import Enum
from typing import Any

from ... import Tensor
from ...utils import _pytree
from ..groups import is_initialized, new_group
from ..tensor import DTensor
from ._steps import Steps
from .default_planner import DefaultSavePlanner
from .filesystem import FileSystemWriter, check_id
from .metadata import STATE_DICT_TYPE, Metadata
from .planner import SavePlan, SavePlanner
from .stateful import Stateful
from .storage import StorageWriter

__all__ = ["AsyncCheckpointerType", "async_save", "save"]


class AsyncCheckpointerType(Enum):
    """Kinds of workers that run an asynchronous save."""

    THREAD = "thread"
    PROCESS = "process"


def _values_of(state_dict: STATE_DICT_TYPE) -> STATE_DICT_TYPE:
    """With the states of what has one."""
    return {
        key: value.state_dict() if isinstance(value, Stateful) else value
        for key, value in state_dict.items()
    }


def writer_of(
    writer: StorageWriter | None, checkpoint_id: str | os.PathLike | None
) -> StorageWriter:
    """The writer, or one of a folder; RuntimeError without either."""
    if writer is None:
        check_id(checkpoint_id)
        if "://" in str(checkpoint_id):
            raise RuntimeError(
                f"Cannot detect which StorageReader or StorageWriter to use "
                f"for {checkpoint_id}: checkpoints are in folders here"
            )
        return FileSystemWriter(checkpoint_id)
    writer.reset(checkpoint_id)
    return writer


def save(
    state_dict: STATE_DICT_TYPE,
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group=None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Metadata:
    """Writes a state into a folder, each rank its parts.

    Of DTensors each part is written once; what all ranks have, one of them
    writes. Every rank of the group calls it with the same names. `.metadata`
    comes last, so a checkpoint that was not finished has none.

    Raises:
        CheckpointException: what went wrong on any rank.
        RuntimeError: neither folder nor writer.
    """
    writer = writer_of(storage_writer, checkpoint_id)
    steps = Steps(process_group, not no_dist, 0)
    return _save(_values_of(state_dict), writer, steps, planner)


def save_state_dict(
    state_dict: STATE_DICT_TYPE,
    storage_writer: StorageWriter,
    process_group=None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: SavePlanner | None = None,
) -> Metadata:
    """The older form of `save`."""
    storage_writer.reset()
    steps = Steps(process_group, not no_dist, coordinator_rank)
    return _save(state_dict, storage_writer, steps, planner)


def _save(
    state_dict: STATE_DICT_TYPE,
    writer: StorageWriter,
    steps: Steps,
    planner: SavePlanner | None,
) -> Metadata:
    planner = planner or DefaultSavePlanner()
    decided: list = [None]

    def local() -> SavePlan:
        planner.set_up_planner(state_dict, writer.storage_meta(), steps.is_coordinator)
        writer.set_up_storage_writer(steps.is_coordinator, rank=steps.rank)
        return writer.prepare_local_plan(planner.create_local_plan())

    def decide(plans: list[SavePlan]) -> list[SavePlan]:
        plans, decided[0] = planner.create_global_plan(plans)
        return writer.prepare_global_plan(plans)

    plan = steps.reduce_scatter("plan", local, decide)

    def write():
        future = writer.write_data(planner.finish_plan(plan), planner)
        future.wait()
        return future.value()

    def finish(results: list) -> Metadata:
        writer.finish(decided[0], results)
        return decided[0]

    return steps.all_reduce("write", write, finish)


_groups: dict[Any, Any] = {}


def async_save(
    state_dict: STATE_DICT_TYPE,
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group=None,
    async_checkpointer_type: AsyncCheckpointerType = (AsyncCheckpointerType.THREAD),
    async_stager=None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Future:
    """Copies the state, and saves the copy in a thread while the program goes
    on; the Future is done when it is saved, and has the exception if it is not.

    Ranks work together in a group of this function's own, so that collectives
    of the program go on meanwhile.
    """
    if async_checkpointer_type is not AsyncCheckpointerType.THREAD:
        raise NotImplementedError(
            "async_save: a thread saves, not a process (AsyncCheckpointerType.THREAD)"
        )
    if async_stager is not None:
        raise NotImplementedError(
            "async_save: the state is copied here (async_stager is not there)"
        )
    writer = writer_of(storage_writer, checkpoint_id)
    staged = copied(_values_of(state_dict))
    group = None if no_dist else _own_group(process_group)
    future: Future = Future()

    def work() -> None:
        try:
            steps = Steps(group, not no_dist, 0)
            future.set_result(_save(staged, writer, steps, planner))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name="async_save").start()
    return future


def _own_group(process_group):
    """A group of the same ranks for saves in threads; all ranks make it."""
    if not is_initialized():
        return None
    from ..groups import default_group, get_process_group_ranks

    base = process_group or default_group()
    if base not in _groups:
        _groups.clear()
        _groups[base] = new_group(get_process_group_ranks(base))
    return _groups[base]


def copied(state: Any) -> Any:
    """The state with copies of its tensors, in the CPU's memory."""

    def copy(value):
        if isinstance(value, DTensor):
            return DTensor(value._local_tensor.detach().cpu().clone(), value._spec)
        if isinstance(value, Tensor):
            return value.detach().cpu().clone()
        return value

    return _pytree.tree_map(copy, state)
