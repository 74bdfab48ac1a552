"""Learning rate schedules.

Most are recursive, as in PyTorch: the next rate follows from the present one,
so that schedules can be combined and rates be changed by hand.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections import Counter

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


class _ByFactor(LRScheduler):
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


class StepLR(_ByFactor):
    """Times `gamma` every `step_size` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        step_size: int,
        gamma: float = 0.1,
        last_epoch=-1,
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next_factor(self) -> float:
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if due else 1.0

    def _get_closed_form_lr(self) -> list[float]:
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(_ByFactor):
    """Times `gamma` at each of the epochs `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones,
        gamma: float = 0.1,
        last_epoch=-1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next_factor(self) -> float:
        return self.gamma ** self.milestones.get(self.last_epoch, 0)

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(
            sorted(self.milestones.elements()), self.last_epoch
        )
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(_ByFactor):
    """Times `gamma` every epoch."""

    def __init__(
        self, optimizer: Optimizer, gamma: float, last_epoch: int = -1
    ):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next_factor(self) -> float:
        return self.gamma

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class ConstantLR(_ByFactor):
    """Times `factor` for the first `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError(
                "Constant multiplicative factor expected to be between 0 and 1."
            )
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _first_factor(self) -> float:
        return self.factor

    def _next_factor(self) -> float:
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1.0


class LinearLR(_ByFactor):
    """Times a factor that goes linearly from `start_factor` to `end_factor`."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 "
                "and less or equal to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError(
                "Ending multiplicative factor expected to be between 0 and 1."
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _first_factor(self) -> float:
        return self.start_factor

    def _next_factor(self) -> float:
        if self.last_epoch > self.total_iters:
            return 1.0
        rise = self.end_factor - self.start_factor
        before = (
            self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        )
        return 1.0 + rise / before


class PolynomialLR(_ByFactor):
    """To 0 in `total_iters` epochs, as (1 - epoch / total_iters)^power."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _next_factor(self) -> float:
        if self.last_epoch > self.total_iters:
            return 1.0
        left = 1.0 - self.last_epoch / self.total_iters
        had = 1.0 - (self.last_epoch - 1) / self.total_iters
        return (left / had) ** self.power


class _ByFunction(LRScheduler):
    """A schedule from one function of the epoch for each group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda, last_epoch: int = -1
    ) -> None:
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != groups:
                raise ValueError(
                    f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}"
                )
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * groups
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict:
        """As in the base class; only callable objects among the functions."""
        state = super().state_dict()
        del state["lr_lambdas"]
        # Plain functions cannot be saved.
        state["lr_lambdas"] = [
            None if _is_function(fn) else dict(fn.__dict__)
            for fn in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` gave; functions stay as they are."""
        state_dict = dict(state_dict)
        saved = state_dict.pop("lr_lambdas", [])
        self.__dict__.update(state_dict)
        for fn, attributes in zip(self.lr_lambdas, saved):
            if attributes is not None:
                fn.__dict__.update(attributes)


def _is_function(fn) -> bool:
    return isinstance(fn, type(_is_function)) or not hasattr(fn, "__dict__")


class LambdaLR(_ByFunction):
    """Initial rate times a function of the epoch."""

    def get_lr(self) -> list[float]:
        self._warn_outside_step()
        return [
            base * fn(self.last_epoch)
            for fn, base in zip(self.lr_lambdas, self.base_lrs)
        ]


class MultiplicativeLR(_ByFunction):
    """Present rate times a function of the epoch."""

    def get_lr(self) -> list[float]:
        self._warn_outside_step()
        if self._is_initial:
            return self._present()
        return [
            rate * fn(self.last_epoch)
            for fn, rate in zip(self.lr_lambdas, self._present())
        ]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to `eta_min` in `T_max` epochs.

    Loshchilov & Hutter 2016, without restarts.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._warn_outside_step()
        rates = self._present()
        if self._is_initial and self.last_epoch == 0:
            return rates
        epoch, period = self.last_epoch, self.T_max
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - period) % (2 * period) == 0:
            # The cosine is at its lowest: the ratio below would be 0 / 0.
            rise = (1 - math.cos(math.pi / period)) / 2
            return [
                rate + (base - self.eta_min) * rise
                for rate, base in zip(rates, self.base_lrs)
            ]
        now = 1 + math.cos(math.pi * epoch / period)
        before = 1 + math.cos(math.pi * (epoch - 1) / period)
        return [now / before * (r - self.eta_min) + self.eta_min for r in rates]

    def _get_closed_form_lr(self) -> list[float]:
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [
            self.eta_min + (b - self.eta_min) * share for b in self.base_lrs
        ]


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and down again, once, stepping after every batch.

    Smith & Topin 2017. With `cycle_momentum` the momentum (or the first beta)
    goes the other way. `three_phase` comes down symmetrically before the end.
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
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(
                f"Expected float between 0 and 1 pct_start, but got {pct_start}"
            )
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "anneal_strategy must be one of 'cos' or 'linear', instead got "
                f"{anneal_strategy}"
            )
        self._schedule_phases = _phases(
            self.total_steps, pct_start, three_phase
        )
        self._anneal_func_type = anneal_strategy
        self._set_rates(max_lr, div_factor, final_div_factor, last_epoch)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._set_momenta(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _each(self, name: str, value) -> list:
        groups = self.optimizer.param_groups
        if isinstance(value, (list, tuple)):
            if len(value) != len(groups):
                raise ValueError(
                    f"{name} must have the same length as "
                    f"optimizer.param_groups. {name} has {len(value)} values, "
                    f"param_groups has {len(groups)}."
                )
            return list(value)
        return [value] * len(groups)

    def _set_rates(
        self, max_lr, div_factor, final_div_factor, last_epoch
    ) -> None:
        rates = self._each("max_lr", max_lr)
        if last_epoch == -1:
            for group, rate in zip(self.optimizer.param_groups, rates):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor

    def _set_momenta(self, base_momentum, max_momentum, last_epoch) -> None:
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with "
                "`cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in defaults
        if last_epoch != -1:
            return
        highs = self._each("max_momentum", max_momentum)
        lows = self._each("base_momentum", base_momentum)
        for group, low, high in zip(self.optimizer.param_groups, lows, highs):
            self._put_momentum(group, high)
            group["max_momentum"] = high
            group["base_momentum"] = low

    def _put_momentum(self, group: dict, value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def _anneal(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[float]:
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total "
                f"steps is {self.total_steps}"
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
                self._anneal(
                    group[phase["start_lr"]], group[phase["end_lr"]], share
                )
            )
            if self.cycle_momentum:
                momentum = self._anneal(
                    group[phase["start_momentum"]],
                    group[phase["end_momentum"]],
                    share,
                )
                self._put_momentum(group, momentum)
        return rates


def _total_steps(total_steps, epochs, steps_per_epoch) -> int:
    named = {"total_steps": total_steps}
    if total_steps is None:
        if epochs is None or steps_per_epoch is None:
            raise ValueError(
                "You must define either total_steps OR (epochs AND "
                "steps_per_epoch)"
            )
        named = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in named.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(
                f"Expected positive integer {name}, but got {value}"
            )
    return total_steps if total_steps is not None else epochs * steps_per_epoch


def _phases(
    total_steps: int, pct_start: float, three_phase: bool
) -> list[dict]:
    """Where each phase ends, and which rates and momenta it joins."""
    up = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
    peak = float(pct_start * total_steps) - 1
    if three_phase:
        rows = [
            (peak, *up),
            (2 * peak, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            (
                total_steps - 1,
                "initial_lr",
                "min_lr",
                "max_momentum",
                "max_momentum",
            ),
        ]
    else:
        rows = [
            (peak, *up),
            (
                total_steps - 1,
                "max_lr",
                "min_lr",
                "base_momentum",
                "max_momentum",
            ),
        ]
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(names, row)) for row in rows]


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` when a metric has not improved for `patience` epochs.

    Call `step(metric)`. `mode` "min" or "max"; better means by more than
    `threshold`, relative ("rel") or absolute ("abs").
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError("mode " + str(mode) + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(
                "threshold mode " + str(threshold_mode) + " is unknown!"
            )
        groups = len(optimizer.param_groups)
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != groups:
                raise ValueError(
                    f"expected {groups} min_lrs, got {len(min_lr)}"
                )
            self.min_lrs = list(min_lr)
        else:
            self.min_lrs = [min_lr] * groups
        self.optimizer = optimizer
        self.factor = factor
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch = 0
        self._last_lr = self._present()
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics, epoch: int | None = None) -> None:
        """Notes the metric of an epoch and reduces the rates if it is time."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._present()

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                group["lr"] = new

    @property
    def in_cooldown(self) -> bool:
        """True while bad epochs are not counted after a reduction."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            # inf * (1 - threshold) is inf: everything beats the start.
            target = best * (1.0 + sign * self.threshold)
        else:
            target = best + sign * self.threshold
        return a > target if self.mode == "max" else a < target
