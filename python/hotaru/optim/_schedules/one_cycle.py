"""The one-cycle schedule."""

from __future__ import annotations

import math

from ..optimizer import Optimizer
from .base import LRScheduler, check_optimizer, check_strategy, each, warn_outside_step
from .momentum import has_beta1, put_momentum


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and down again, once, stepping after every batch.

    "Super-Convergence: Very Fast Training of Neural Networks Using Large
    Learning Rates" (Smith & Topin 2017, arXiv 1708.07120).

    Args:
        optimizer: whose rates to set.
        max_lr: the highest rate, one or a list of one for each group.
        total_steps: steps of the cycle; or `epochs` times `steps_per_epoch`.
        pct_start: share of the steps that go up (0.3).
        anneal_strategy: along a "cos" or "linear" (cos).
        cycle_momentum: momentum, or the first of the betas, goes the other way,
            between `base_momentum` (0.85) and `max_momentum` (0.95).
        div_factor: `max_lr` by the rate at the start (25).
        final_div_factor: that rate by the one at the end (1e4).
        three_phase: come down symmetrically before the end.
        last_epoch: the step to go on from, -1 for the start.

    Raises:
        TypeError, ValueError: no optimizer, one without momentum, an option out
            of its range; in `step`: too many steps.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(
                f"Expected float between 0 and 1 pct_start, but got {pct_start}"
            )
        check_strategy(anneal_strategy)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        self._set_rates(max_lr, div_factor, final_div_factor, last_epoch)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._set_momenta(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _set_rates(self, max_lr, div_factor, final_div_factor, last_epoch) -> None:
        rates = each("max_lr", self.optimizer, max_lr)
        if last_epoch == -1:
            for group, rate in zip(self.optimizer.param_groups, rates):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor

    def _set_momenta(self, base_momentum, max_momentum, last_epoch) -> None:
        self.use_beta1 = has_beta1(self.optimizer)
        if last_epoch != -1:
            return
        highs = each("max_momentum", self.optimizer, max_momentum)
        lows = each("base_momentum", self.optimizer, base_momentum)
        for group, low, high in zip(self.optimizer.param_groups, lows, highs):
            put_momentum(group, high)
            group["max_momentum"] = high
            group["base_momentum"] = low

    def _anneal_func(self, start: float, end: float, share: float) -> float:
        kind = getattr(self, "_anneal_func_type", None)
        if kind is None:  # a file of an old version has the function itself
            return self.anneal_func(start, end, share)
        if kind == "linear":
            return self._annealing_linear(start, end, share)
        return self._annealing_cos(start, end, share)

    @staticmethod
    def _annealing_cos(start: float, end: float, share: float) -> float:
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    @staticmethod
    def _annealing_linear(start: float, end: float, share: float) -> float:
        return (end - start) * share + start

    def get_lr(self) -> list[float]:
        warn_outside_step(self)
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. "
                f"The specified number of total steps is {self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                share = (step - start) / (end - start)
                break
            start = end
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(
                self._anneal_func(
                    group[phase["start_lr"]], group[phase["end_lr"]], share
                )
            )
            if self.cycle_momentum:
                momentum = self._anneal_func(
                    group[phase["start_momentum"]], group[phase["end_momentum"]], share
                )
                put_momentum(group, momentum)
        return rates


def _total_steps(total_steps, epochs, steps_per_epoch) -> int:
    named = {"total_steps": total_steps}
    if total_steps is None:
        if epochs is None or steps_per_epoch is None:
            raise ValueError(
                "You must define either total_steps OR (epochs AND steps_per_epoch)"
            )
        named = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in named.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return total_steps if total_steps is not None else epochs * steps_per_epoch


def _phases(total_steps: int, pct_start: float, three_phase: bool) -> list[dict]:
    """Where each phase ends, and which rates and momenta it joins."""
    up = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
    peak = float(pct_start * total_steps) - 1
    if three_phase:
        rows = [
            (peak, *up),
            (2 * peak, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            (total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]
    else:
        rows = [
            (peak, *up),
            (total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"),
        ]
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(names, row)) for row in rows]
