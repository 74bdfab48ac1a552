"""Learning rate schedules.

Most are recursive, as in PyTorch: the next rate follows from the present one,
so that schedules can be combined and rates be changed by hand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

from ._schedules.base import (
    EPOCH_DEPRECATION_WARNING,  # noqa: F401
    ByFactor,
    LRScheduler,
    warn_outside_step,
)
from ._schedules.base import each as _format_param  # noqa: F401
from ._schedules.base import put as _update_param_group_val  # noqa: F401
from ._schedules.base import values_of as _param_groups_val_list  # noqa: F401
from ._schedules.base import warn_outside_step as _warn_get_lr_called_within_step  # noqa: F401
from ._schedules.base import within_step as _enable_get_lr_call  # noqa: F401
from ._schedules.composed import ChainedScheduler, SequentialLR
from ._schedules.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from ._schedules.cyclic import CyclicLR, load_function, saved_function
from ._schedules.one_cycle import OneCycleLR
from ._schedules.plateau import ReduceLROnPlateau
from .optimizer import Optimizer

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


class _LRScheduler(LRScheduler):
    """The base class by its old name."""


class StepLR(ByFactor):
    """Times `gamma` every `step_size` epochs.

    Args:
        optimizer: whose rates to set.
        step_size: epochs between reductions.
        gamma: factor of a reduction (0.1).
        last_epoch: the epoch to go on from, -1 for the start.
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch=-1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if due else 1

    def _get_closed_form_lr(self) -> list:
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(ByFactor):
    """Times `gamma` at each of the epochs `milestones`.

    Args:
        optimizer: whose rates to set.
        milestones: epochs in any order; one that is there twice counts twice.
        gamma: factor of a reduction (0.1).
        last_epoch: the epoch to go on from, -1 for the start.
    """

    def __init__(
        self, optimizer: Optimizer, milestones, gamma: float = 0.1, last_epoch=-1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma ** self.milestones.get(self.last_epoch, 0)

    def _get_closed_form_lr(self) -> list:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(ByFactor):
    """Times `gamma` every epoch.

    Args:
        optimizer: whose rates to set.
        gamma: the factor.
        last_epoch: the epoch to go on from, -1 for the start.
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1.0 if self._is_initial else self.gamma

    def _get_closed_form_lr(self) -> list:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class ConstantLR(ByFactor):
    """Times `factor` for the first `total_iters` epochs.

    Args:
        optimizer: whose rates to set.
        factor: in [0, 1] (1/3).
        total_iters: epochs until the rate of the start (5).
        last_epoch: the epoch to go on from, -1 for the start.

    Raises:
        ValueError: `factor` out of its range.
    """

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

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1.0

    def _get_closed_form_lr(self) -> list:
        factor = 1.0 if self.last_epoch >= self.total_iters else self.factor
        return [base * factor for base in self.base_lrs]


class LinearLR(ByFactor):
    """Times a factor that goes linearly from `start_factor` to `end_factor`.

    Args:
        optimizer: whose rates to set.
        start_factor: in (0, 1] (1/3).
        end_factor: in [0, 1] (1.0).
        total_iters: epochs until `end_factor` (5).
        last_epoch: the epoch to go on from, -1 for the start.

    Raises:
        ValueError: a factor out of its range.
    """

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

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1.0
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return 1.0 + rise / before

    def _get_closed_form_lr(self) -> list:
        done = min(self.total_iters, self.last_epoch)
        rise = self.end_factor - self.start_factor
        factor = self.start_factor + rise * done / self.total_iters
        return [base * factor for base in self.base_lrs]


class PolynomialLR(ByFactor):
    """To 0 in `total_iters` epochs, as (1 - epoch / total_iters)^power.

    Args:
        optimizer: whose rates to set.
        total_iters: epochs until 0 (5).
        power: of the polynomial (1.0).
        last_epoch: the epoch to go on from, -1 for the start.
    """

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

    def _factor(self) -> float:
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1.0
        left = 1.0 - self.last_epoch / self.total_iters
        had = 1.0 - (self.last_epoch - 1) / self.total_iters
        return (left / had) ** self.power

    def _get_closed_form_lr(self) -> list:
        done = min(self.total_iters, self.last_epoch)
        factor = (1.0 - done / self.total_iters) ** self.power
        return [base * factor for base in self.base_lrs]


class _ByFunction(LRScheduler):
    """A schedule from one function of the epoch for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda, last_epoch: int = -1) -> None:
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
        functions = state.pop("lr_lambdas")
        state["lr_lambdas"] = [saved_function(fn) for fn in functions]
        return state

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` gave; functions stay as they are."""
        state_dict = dict(state_dict)
        saved = state_dict.pop("lr_lambdas", [])
        self.__dict__.update(state_dict)
        for fn, attributes in zip(self.lr_lambdas, saved):
            load_function(fn, attributes)


class LambdaLR(_ByFunction):
    """Initial rate times a function of the epoch.

    Args:
        optimizer: whose rates to set.
        lr_lambda: the function, or a list of one for each group. Of these,
            states have the attributes of callable objects alone.
        last_epoch: the epoch to go on from, -1 for the start.

    Raises:
        ValueError: a list of another length.
    """

    def get_lr(self) -> list:
        warn_outside_step(self)
        return [
            base * fn(self.last_epoch)
            for fn, base in zip(self.lr_lambdas, self.base_lrs)
        ]


class MultiplicativeLR(_ByFunction):
    """Present rate times a function of the epoch.

    Args:
        optimizer: whose rates to set.
        lr_lambda: the function, or a list of one for each group. Of these,
            states have the attributes of callable objects alone.
        last_epoch: the epoch to go on from, -1 for the start.

    Raises:
        ValueError: a list of another length.
    """

    def get_lr(self) -> list:
        warn_outside_step(self)
        if self._is_initial:
            return self._present()
        return [
            rate * fn(self.last_epoch)
            for fn, rate in zip(self.lr_lambdas, self._present())
        ]


# Files of pickles know all of them by this module.
for _name in __all__:
    globals()[_name].__module__ = __name__
