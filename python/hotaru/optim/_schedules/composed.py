"""Schedules made of schedules."""

from __future__ import annotations

from bisect import bisect_right

from ...utils._deferred import deferrable
from ..optimizer import Optimizer
from .base import LRScheduler, put, values_of
from .plateau import ReduceLROnPlateau


class _Composed(LRScheduler):
    """A schedule that has others; it has no rates of its own."""

    def _check(self, schedulers, optimizer: Optimizer) -> None:
        kind = type(self).__name__
        for i, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(
                    f"{kind} at index {i} should have `optimizer` as its attribute."
                )
            if isinstance(part, ReduceLROnPlateau):
                raise ValueError(
                    f"{kind} does not support `ReduceLROnPlateau` scheduler as "
                    "it requires additional kwargs to be specified when "
                    f"calling `step`, but got one at index {i} in the given "
                    "schedulers sequence."
                )
            if part.optimizer is not optimizer:
                raise ValueError(
                    f"{kind} expects all schedulers to belong to the same "
                    f"optimizer, but got scheduler {type(part).__name__} at "
                    f"index {i} has {part.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def state_dict(self) -> dict:
        """All attributes but the optimizer, with the states of all parts."""
        state = super().state_dict()
        parts = state.pop("_schedulers")
        state["_schedulers"] = [part.state_dict() for part in parts]
        return state

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` gave, in all parts."""
        state_dict = dict(state_dict)
        states = state_dict.pop("_schedulers")
        self.__dict__.update(state_dict)
        for part, state in zip(self._schedulers, states):
            part.load_state_dict(state)


class SequentialLR(_Composed):
    """One schedule after the other.

    Args:
        optimizer: whose rates to set.
        schedulers: the parts, made for this optimizer.
        milestones: the epochs at which the next part takes over, where it
            begins with its epoch 0.
        last_epoch: the epoch to go on from, -1 for the start.

    Raises:
        TypeError, ValueError: no parts, parts of another optimizer, a
            `ReduceLROnPlateau`, or another number of milestones.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                "SequentialLR expects at least one scheduler, but got no scheduler."
            )
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided "
                "to be one more than the number of milestone points, but got "
                f"number of schedulers {len(schedulers)} and the number of "
                f"milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # All parts have made their first step: only the first one's counts.
        for group in optimizer.param_groups:
            put(group, "lr", group["initial_lr"])
        self.recursive_undo()
        self._schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def recursive_undo(self, sched=None) -> None:
        """Takes a step back in all parts, and in theirs."""
        sched = self if sched is None else sched
        if hasattr(sched, "_schedulers"):
            for part in sched._schedulers:
                self.recursive_undo(part)
        elif hasattr(sched, "last_epoch"):
            sched.last_epoch -= 1

    @deferrable
    def step(self) -> None:
        """Goes on to the next epoch and sets the rates."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        part = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()


class ChainedScheduler(_Composed):
    """All schedules at once, each on the rates that the one before has set.

    Args:
        schedulers: the parts, made for one optimizer.
        optimizer: that optimizer, by default the one of the first part.

    Raises:
        TypeError, ValueError: no parts, parts of different optimizers, or a
            `ReduceLROnPlateau`.
    """

    def __init__(self, schedulers, optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be "
                "chained, but got no scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = values_of(optimizer, "lr")

    @deferrable
    def step(self) -> None:
        """Goes on to the next epoch in all parts."""
        for part in self._schedulers:
            part.step()
        self._last_lr = values_of(self.optimizer, "lr")
