"""What all learning rate schedules share."""

from __future__ import annotations

import warnings

from .optimizer import Optimizer


class LRScheduler:
    """Base class: subclasses define `get_lr`, one rate a parameter group.

    `last_epoch` counts the calls of `step`, the first being part of the
    construction.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] "
                    "when resuming scheduler with last_epoch >= 0: load the "
                    "optimizer's state first, or leave last_epoch at -1 for a "
                    "fresh run"
                )
        self.base_lrs = [
            group["initial_lr"] for group in optimizer.param_groups
        ]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._is_initial = True
        self._get_lr_called_within_step = False
        self.step()
        self._is_initial = False

    def state_dict(self) -> dict:
        """All attributes but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[float]:
        """The rates that the last `step` set."""
        return self._last_lr

    def get_lr(self) -> list[float]:
        """The rates to set now; called by `step`."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch and sets the rates."""
        if self._step_count == 1 and not getattr(
            self.optimizer, "_opt_called", False
        ):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before "
                "`optimizer.step()`. You should call them in the opposite "
                "order: `optimizer.step()` before `lr_scheduler.step()`. "
                "Otherwise the first value of the learning rate schedule is "
                "skipped.",
                stacklevel=2,
            )
        self._step_count += 1
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", self.get_lr)
                rates = closed()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: list[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _present(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def _times(self, factor: float) -> list[float]:
        return [rate * factor for rate in self._present()]

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, "
                "please use `get_last_lr()`.",
                stacklevel=3,
            )


class ByFactor(LRScheduler):
    """A schedule that multiplies all rates by one factor a step."""

    def get_lr(self) -> list[float]:
        self._warn_outside_step()
        if self._is_initial and self.last_epoch == 0:
            return self._times(self._first_factor())
        return self._times(self._next_factor())

    def _first_factor(self) -> float:
        return 1.0

    def _next_factor(self) -> float:
        raise NotImplementedError
