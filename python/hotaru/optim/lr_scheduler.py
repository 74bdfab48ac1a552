"""Learning rate schedules.

Most are recursive, as in PyTorch: the next rate follows from the present one,
so that schedules can be combined and rates be changed by hand.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter

from ._one_cycle import OneCycleLR
from ._plateau import ReduceLROnPlateau
from ._schedule import ByFactor, LRScheduler
from .optimizer import Optimizer

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "StepLR",
]


class StepLR(ByFactor):
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


class MultiStepLR(ByFactor):
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


class ExponentialLR(ByFactor):
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


class ConstantLR(ByFactor):
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


class LinearLR(ByFactor):
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


class PolynomialLR(ByFactor):
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
