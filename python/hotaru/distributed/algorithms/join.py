"""Processes with different amounts of data.

A process that has run out goes on to take part in the collectives of those that
have not, with nothing of its own.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from ... import ones, zeros
from ..collectives import all_reduce

__all__ = ["Join", "JoinHook", "Joinable"]

_MANY = 1000


class JoinHook:
    """Collectives that a process that has run out does for one object."""

    def main_hook(self) -> None:
        """The collectives of one iteration of those that have not."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Once, when all have run out; the last ones know it."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool

    @staticmethod
    def construct_disabled_join_config() -> _JoinConfig:
        return _JoinConfig(False, False, False)


class Joinable(ABC):
    """An object that does collectives in each iteration."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig.construct_disabled_join_config()

    @abstractmethod
    def join_hook(self, **kwargs) -> JoinHook:
        """Returns the hook that stands for its collectives without it."""

    @property
    @abstractmethod
    def join_device(self):
        """Where its collectives' tensors are."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """Whose processes do them."""


class Join:
    """A context around the loop over a process's own data.

    Args:
        joinables: the objects whose collectives are in the loop; of one group.
        enable: False where all processes have equally much, which costs less.
        throw_on_early_termination: RuntimeError everywhere when one has run
            out, in place of going on.
        kwargs: for the objects' `join_hook`.

    Raises:
        ValueError: no objects, or of several groups.
        TypeError: one is no Joinable.
    """

    def __init__(
        self,
        joinables: list[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        for joinable in joinables:
            if not isinstance(joinable, Joinable):
                raise TypeError(
                    "The join context manager takes objects of Joinable, not "
                    f"{type(joinable).__name__}"
                )
        groups = {id(j.join_process_group) for j in joinables}
        if len(groups) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._joinables = joinables
        self._hooks = [j.join_hook(**kwargs) for j in joinables]
        self._enable = enable
        self._throws = throw_on_early_termination
        self._group = joinables[0].join_process_group
        for i, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(
                enable, throw_on_early_termination, i == 0
            )

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(self, type, value, traceback) -> None:
        """Until all processes have run out."""
        try:
            if self._enable and type is None:
                self._go_on()
        finally:
            for joinable in self._joinables:
                joinable._join_config = _JoinConfig.construct_disabled_join_config()

    def _go_on(self) -> None:
        is_last, iterations = True, 0
        while self._count_active():
            if self._throws:
                all_reduce(ones(1), group=self._group)
                raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
            is_last = False
            iterations += 1
            if iterations == _MANY:
                warnings.warn(
                    f"Rank {self._group.rank()} has at least {_MANY} fewer "
                    "inputs than others: Detected uneven input skew of greater "
                    f"than {_MANY}, which makes training slow.",
                    stacklevel=3,
                )
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(is_last)

    def _count_active(self) -> int:
        count = zeros(1)
        all_reduce(count, group=self._group)
        return int(count)

    @staticmethod
    def notify_join_context(joinable: Joinable):
        """For an object, before its collectives of an iteration.

        Tells those that have run out that this process has not. A Work whose
        result is how many have not; None without a context, or for another
        than its first object.
        """
        config = joinable._join_config
        if not config.enable or not config.is_first_joinable:
            return None
        group = joinable.join_process_group
        work = all_reduce(ones(1), group=group, async_op=True)
        if config.throw_on_early_termination:
            gone = zeros(1)
            active = int(work.result()[0])
            if active < group.size():
                all_reduce(gone, group=group)
                raise RuntimeError(
                    "Detected at least one rank that exhausted inputs. "
                    "Throwing across all ranks."
                )
        return work
