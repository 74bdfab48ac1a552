"""The pipe that gives each worker its part."""

from __future__ import annotations

from collections.abc import Sized
from enum import IntEnum

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe

__all__ = ["SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"]


class SHARDING_PRIORITIES(IntEnum):  # noqa: N801
    """Among whom is divided; of several, machines before workers."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


class _ShardingIterDataPipe(IterDataPipe):
    """A pipe that can be told which part of the items to give."""

    def apply_sharding(
        self,
        num_of_instances: int,
        instance_id: int,
        sharding_group: SHARDING_PRIORITIES,
    ) -> None:
        """Gives part `instance_id` of `num_of_instances`."""
        raise NotImplementedError


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(_ShardingIterDataPipe):
    """Gives every n-th item (functional name: ``sharding_filter``).

    All, until `apply_sharding` says which; a DataLoader with workers does.
    """

    def __init__(
        self, source_datapipe: IterDataPipe, sharding_group_filter=None
    ) -> None:
        self.source_datapipe = source_datapipe
        self.sharding_group_filter = sharding_group_filter
        self.groups: dict = {}
        self._divide()

    def apply_sharding(
        self,
        num_of_instances: int,
        instance_id: int,
        sharding_group=SHARDING_PRIORITIES.DEFAULT,
    ) -> None:
        """Gives part `instance_id` of `num_of_instances`, in each group.

        Raises ValueError for a part that is none, RuntimeError where DEFAULT is
        told beside others.
        """
        if instance_id >= num_of_instances:
            raise ValueError(
                f"instance_id({instance_id}) should be smaller than "
                f"num_of_instances({num_of_instances})"
            )
        default = SHARDING_PRIORITIES.DEFAULT
        if any(
            (group == default) != (sharding_group == default) for group in self.groups
        ):
            raise RuntimeError(
                "ShardingFilter cannot mix DEFAULT and non DEFAULT groups"
            )
        self.groups[sharding_group] = (num_of_instances, instance_id)
        self._divide()

    def _divide(self) -> None:
        self.num_of_instances, self.instance_id = 1, 0
        wanted = self.sharding_group_filter
        for group in sorted(self.groups, reverse=True):
            if wanted is None or group == wanted:
                count, part = self.groups[group]
                self.instance_id += self.num_of_instances * part
                self.num_of_instances *= count

    def __iter__(self):
        for i, item in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield item

    def __len__(self) -> int:
        if isinstance(self.source_datapipe, Sized):
            rest = len(self.source_datapipe) - self.instance_id
            return max(-(-rest // self.num_of_instances), 0)
        raise self._no_length()
