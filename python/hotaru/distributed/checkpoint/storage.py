"""Where checkpoints are kept: what has to be said of a place."""

from __future__ import annotations

import abc
import os
from dataclasses import dataclass
from typing import Any, Union

from ...futures import Future
from .metadata import Metadata, MetadataIndex, StorageMeta
from .planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner

__all__ = ["StorageReader", "StorageWriter", "WriteResult"]

Where = Union[str, os.PathLike, None]


@dataclass(frozen=True)
class WriteResult:
    """An item that was written: how long it is, and where."""

    index: MetadataIndex
    size_in_bytes: int
    storage_data: Any


class StorageWriter(abc.ABC):
    """Writes a checkpoint. The methods are called in this order, those of the
    global plan and `finish` on the coordinator only.
    """

    @abc.abstractmethod
    def reset(self, checkpoint_id: Where = None) -> None:
        """A new checkpoint begins."""

    @abc.abstractmethod
    def set_up_storage_writer(self, is_coordinator: bool, *args, **kwargs) -> None:
        """Makes the place ready."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Adds to this rank's plan what storage needs."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """The same of all plans."""

    @abc.abstractmethod
    def write_data(
        self, plan: SavePlan, planner: SavePlanner
    ) -> Future[list[WriteResult]]:
        """Writes this rank's items."""

    @abc.abstractmethod
    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Writes the metadata: the checkpoint is there after it."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: Where) -> bool:
        """True if it is a place of this kind."""

    def storage_meta(self) -> StorageMeta | None:
        """Returns what the metadata says of the place."""
        return None


class StorageReader(abc.ABC):
    """Reads one, likewise."""

    @abc.abstractmethod
    def reset(self, checkpoint_id: Where = None) -> None:
        """Another checkpoint is read."""

    @abc.abstractmethod
    def read_metadata(self, *args, **kwargs) -> Metadata:
        """Reads what the checkpoint says of itself."""

    @abc.abstractmethod
    def set_up_storage_reader(
        self, metadata: Metadata, is_coordinator: bool, *args, **kwargs
    ) -> None:
        """Reading begins."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Adds to this rank's plan what storage needs."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """The same of all plans."""

    @abc.abstractmethod
    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Reads this rank's items."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: Where) -> bool:
        """True if it is a place of this kind."""
