"""Plans in which every box is written once, and every rank reads its own."""

from __future__ import annotations

import dataclasses
import io
from typing import Any

from ... import Tensor, empty, no_grad, save
from ... import load as _load
from ._nested_dict import flatten_state_dict
from ._traverse import set_element
from .metadata import (
    STATE_DICT_TYPE,
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorStorageMetadata,
)
from .planner import (
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    WriteItem,
    WriteItemType,
)
from .planner_helpers import local_part, read_items, write_items

__all__ = [
    "DefaultLoadPlanner",
    "DefaultSavePlanner",
    "create_default_global_load_plan",
    "create_default_global_save_plan",
    "create_default_local_load_plan",
    "create_default_local_save_plan",
]


class DefaultSavePlanner(SavePlanner):
    """Flattens the state; what several ranks have, one of them writes.

    Args:
        flatten_state_dict: nested states by paths; without it as one value.
        dedup_save_to_lowest_rank: the first of them does, in place of the one
            that has least to write.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None,
        dedup_save_to_lowest_rank: bool = False,
        enable_plan_caching: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank
        self.mappings: dict = {}
        self.state_dict: dict = {}
        self.is_coordinator = False

    def set_up_planner(self, state_dict, storage_meta=None, is_coordinator=False):
        """A save of this state begins."""
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict = state_dict
        self.is_coordinator = is_coordinator

    def create_local_plan(self) -> SavePlan:
        """All that this rank has."""
        plan = create_default_local_save_plan(self.state_dict, self.is_coordinator)
        if self.flatten_state_dict:
            plan = dataclasses.replace(plan, planner_data=self.mappings)
        self.plan = plan
        return plan

    def create_global_plan(self, all_plans):
        """Every box once; AssertionError where boxes overlap or leave holes."""
        all_plans = _without_twins(all_plans, self.dedup_save_to_lowest_rank)
        plans, metadata = create_default_global_save_plan(all_plans)
        if self.flatten_state_dict:
            paths: dict = {}
            for plan in plans:
                paths.update(plan.planner_data or {})
            metadata = dataclasses.replace(metadata, planner_data=paths)
        problems = _problems_of(metadata)
        if problems:
            raise ValueError(f"Failed to validate global plan: {problems}")
        return plans, metadata

    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """As it is."""
        self.plan = new_plan
        return new_plan

    def resolve_data(self, write_item: WriteItem):
        """The part, or the value as bytes."""
        return self.transform_object(write_item, self.lookup_object(write_item.index))

    def lookup_object(self, index: MetadataIndex) -> Any:
        """The value's part in this rank."""
        return local_part(self.state_dict[index.fqn], index)

    def transform_object(self, write_item: WriteItem, object: Any):
        """Returns what is written of it."""
        if write_item.type is WriteItemType.BYTE_IO:
            data = io.BytesIO()
            save(object, data)
            data.seek(0)
            return data
        return object


class DefaultLoadPlanner(LoadPlanner):
    """Reads into the state's own tensors; other values are replaced.

    Args:
        flatten_state_dict: as it was saved.
        allow_partial_load: what the checkpoint lacks stays as it was.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        allow_partial_load: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.allow_partial_load = allow_partial_load
        self.mappings: dict = {}

    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        """A load into this state begins."""
        self.original_state_dict = state_dict
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict = state_dict
        self.metadata, self.is_coordinator = metadata, is_coordinator

    def create_local_plan(self) -> LoadPlan:
        """All that this rank's state has; RuntimeError for what is missing."""
        return create_default_local_load_plan(
            self.state_dict, self.metadata, not self.allow_partial_load
        )

    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """As they are."""
        return create_default_global_load_plan(global_plan)

    def finish_plan(self, new_plan: LoadPlan) -> LoadPlan:
        """As it is."""
        return new_plan

    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        """Plain values and tensors only, unless a program allows more."""
        fqn = read_item.dest_index.fqn
        loaded = _load(value, weights_only=True)
        if self.flatten_state_dict:
            set_element(self.original_state_dict, self.mappings[fqn], loaded)
        else:
            self.state_dict[fqn] = loaded

    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        """The box of the state's tensor."""
        tensor = self.lookup_tensor(read_item.dest_index)
        return self.transform_tensor(read_item, tensor)

    def lookup_tensor(self, index: MetadataIndex) -> Tensor:
        """The part of the state's tensor in this rank."""
        return local_part(self.state_dict[index.fqn], index).detach()

    def transform_tensor(self, read_item: ReadItem, tensor: Tensor) -> Tensor:
        """The item's box of it."""
        return narrowed(tensor, read_item.dest_offsets, read_item.lengths)

    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """Nothing is left to do."""


class _EmptyStateDictLoadPlanner(DefaultLoadPlanner):
    """Reads what there is, or what `keys` names, into a state of its own."""

    def __init__(self, keys: set[str] | None = None, *args, **kwargs) -> None:
        self.keys = keys
        super().__init__(*args, **kwargs)

    def _wanted(self, name: str) -> bool:
        return self.keys is None or any(
            name == key or name.startswith(f"{key}.") for key in self.keys
        )

    @no_grad()
    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        """Makes a tensor for every one there is."""
        if state_dict:
            raise AssertionError("state_dict must be empty")
        paths = metadata.planner_data or {}
        for name, stored in metadata.state_dict_metadata.items():
            if not self._wanted(name):
                continue
            value: Any = None
            if isinstance(stored, TensorStorageMetadata):
                value = empty(stored.size, dtype=stored.properties.dtype)
            set_element(state_dict, paths.get(name, (name,)), value)
        super().set_up_planner(state_dict, metadata, is_coordinator)


def narrowed(tensor: Tensor, offsets, lengths) -> Tensor:
    """A box of a tensor, a view."""
    for dim, (begin, length) in enumerate(zip(offsets, lengths)):
        if length != tensor.size(dim):
            tensor = tensor.narrow(dim, begin, length)
    return tensor


def create_default_local_save_plan(
    state_dict: STATE_DICT_TYPE, is_coordinator: bool
) -> SavePlan:
    """All that this rank has."""
    return SavePlan(
        [item for fqn, value in state_dict.items() for item in write_items(fqn, value)]
    )


def create_default_global_save_plan(
    all_plans: list[SavePlan],
) -> tuple[list[SavePlan], Metadata]:
    """The metadata of all; items know the place of their box."""
    found: dict[str, Any] = {}
    plans = []
    for plan in all_plans:
        items = []
        for item in plan.items:
            fqn, data = item.index.fqn, item.tensor_data
            if data is None:
                found[fqn] = BytesStorageMetadata()
                items.append(item)
                continue
            stored = found.setdefault(
                fqn, TensorStorageMetadata(data.properties, data.size, [])
            )
            place = dataclasses.replace(item.index, index=len(stored.chunks))
            stored.chunks.append(data.chunk)
            items.append(dataclasses.replace(item, index=place))
        plans.append(dataclasses.replace(plan, items=items))
    return plans, Metadata(found)


def create_default_local_load_plan(
    state_dict: STATE_DICT_TYPE, metadata: Metadata, strict: bool = True
) -> LoadPlan:
    """All that this rank's state has.

    Raises:
        RuntimeError: with `strict`, a value that the checkpoint has not.
        ValueError: a tensor of another size.
    """
    items = []
    for fqn, value in state_dict.items():
        if fqn not in metadata.state_dict_metadata:
            if strict:
                raise RuntimeError(f"Missing key in checkpoint state_dict: {fqn}.")
            continue
        stored = metadata.state_dict_metadata[fqn]
        if (
            isinstance(stored, TensorStorageMetadata)
            and isinstance(value, Tensor)
            and tuple(stored.size) != tuple(value.shape)
        ):
            raise ValueError(
                f"Size mismatch between saved {stored.size} and current: "
                f"{value.size()} for {fqn}"
            )
        items += read_items(fqn, stored, value)
    return LoadPlan(items)


def create_default_global_load_plan(all_plans: list[LoadPlan]) -> list[LoadPlan]:
    """As they are."""
    return all_plans


def _size_of(item: WriteItem) -> int:
    return item.tensor_storage_size() or 0


def _without_twins(all_plans: list[SavePlan], to_lowest_rank: bool) -> list[SavePlan]:
    """Every box in one plan: of the rank that has least to write so far."""
    owners: dict[MetadataIndex, list[int]] = {}
    items: dict[MetadataIndex, WriteItem] = {}
    for rank, plan in enumerate(all_plans):
        for item in plan.items:
            owners.setdefault(item.index, []).append(rank)
            items.setdefault(item.index, item)
    loads = [0] * len(all_plans)
    writer: dict[MetadataIndex, int] = {}
    for index, ranks in sorted(owners.items(), key=lambda pair: len(pair[1]) > 1):
        rank = ranks[0] if to_lowest_rank else min(ranks, key=loads.__getitem__)
        writer[index] = rank
        loads[rank] += _size_of(items[index])
    return [
        dataclasses.replace(
            plan, items=[i for i in plan.items if writer[i.index] == rank]
        )
        for rank, plan in enumerate(all_plans)
    ]


def _volume(chunk: ChunkStorageMetadata) -> int:
    total = 1
    for size in chunk.sizes:
        total *= size
    return total


def _problems_of(metadata: Metadata) -> list[str]:
    """Tensors whose boxes are not all of it, each element once."""
    found = []
    for name, stored in metadata.state_dict_metadata.items():
        if isinstance(stored, BytesStorageMetadata):
            continue
        for chunk in stored.chunks:
            if any(
                begin + size > whole
                for begin, size, whole in zip(chunk.offsets, chunk.sizes, stored.size)
            ):
                found.append(f"{name}: a part lies outside of {stored.size}")
        total = sum(map(_volume, stored.chunks))
        whole = _volume(ChunkStorageMetadata(stored.size, stored.size))
        if total != whole:
            found.append(f"{name}: parts of {total} of {whole} elements")
    return found
