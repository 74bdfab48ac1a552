"""Steps of a save or load that ranks take together.

What is raised in one of them is raised in all, as a CheckpointException.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from ..groups import get_global_rank, get_rank, get_world_size, is_initialized
from ..objects import broadcast_object_list, gather_object, scatter_object_list
from .api import CheckpointException


class _Raised:
    """Error that a rank raised, and where."""

    def __init__(self, error: BaseException) -> None:
        self.pair = error, traceback.extract_tb(error.__traceback__)


def _attempt(step: Callable[[], Any]) -> Any:
    try:
        return step()
    except BaseException as error:
        return _Raised(error)


class Steps:
    """The ranks of a group; this process alone without one."""

    def __init__(self, group, use_dist: bool, coordinator_rank: int) -> None:
        self.group = group
        self.use_dist = use_dist and is_initialized()
        self.coordinator_rank = coordinator_rank if self.use_dist else 0
        self.rank = get_rank(group) if self.use_dist else 0
        self.size = get_world_size(group) if self.use_dist else 1
        self.is_coordinator = self.rank == self.coordinator_rank

    @property
    def _root(self) -> int:
        if self.group is None:
            return self.coordinator_rank
        return get_global_rank(self.group, self.coordinator_rank)

    def _gathered(self, value: Any) -> list | None:
        if not self.use_dist:
            return [value]
        found = [None] * self.size if self.is_coordinator else None
        gather_object(value, found, dst=self._root, group=self.group)
        return found

    def _to_all(self, values: list | None) -> Any:
        """Each rank's own of the coordinator's list."""
        if not self.use_dist:
            return values[0]
        out = [None]
        scatter_object_list(out, values, src=self._root, group=self.group)
        return out[0]

    def _sent(self, value: Any) -> Any:
        if not self.use_dist:
            return value
        out = [value]
        broadcast_object_list(out, src=self._root, group=self.group)
        return out[0]

    def reduce_scatter(
        self, name: str, local: Callable[[], Any], decide: Callable[[list], list]
    ) -> Any:
        """Has the coordinator decide for this rank, of what all have."""
        found = self._gathered(_attempt(local))
        decided = None
        if self.is_coordinator:
            decided = self._decided(name, found, decide)
            if isinstance(decided, CheckpointException):
                decided = [decided] * self.size
        return self._checked(self._to_all(decided))

    def all_reduce(
        self, name: str, local: Callable[[], Any], decide: Callable[[list], Any]
    ) -> Any:
        """The same of one decision for all."""
        found = self._gathered(_attempt(local))
        decided = None
        if self.is_coordinator:
            decided = self._decided(name, found, decide)
        return self._checked(self._sent(decided))

    def broadcast(self, name: str, make: Callable[[], Any]) -> Any:
        """Returns what the coordinator makes, in all."""
        made = None
        if self.is_coordinator:
            made = self._decided(name, [None], lambda _: make())
        return self._checked(self._sent(made))

    def _decided(self, name: str, found: list, decide: Callable) -> Any:
        failures = {
            rank: value.pair
            for rank, value in enumerate(found)
            if isinstance(value, _Raised)
        }
        if not failures:
            value = _attempt(lambda: decide(found))
            if not isinstance(value, _Raised):
                return value
            failures[self.rank] = value.pair
        return CheckpointException(name, failures)

    def _checked(self, value: Any) -> Any:
        if isinstance(value, CheckpointException):
            raise value
        return value
