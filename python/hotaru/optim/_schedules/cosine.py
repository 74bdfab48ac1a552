"""Schedules along a cosine."""

from __future__ import annotations

import math

from ...utils._deferred import deferrable
from ..optimizer import Optimizer
from .base import LRScheduler, warn_outside_step, within_step


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to `eta_min` in `T_max` epochs.

    "SGDR: Stochastic Gradient Descent with Warm Restarts" (Loshchilov & Hutter
    2016, arXiv 1608.03983), without restarts: the rate goes up again later.

    Args:
        optimizer: whose rates to set.
        T_max: epochs of half a cosine.
        eta_min: the lowest rate (0).
        last_epoch: the epoch to go on from, -1 for the start.
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

    def get_lr(self) -> list:
        warn_outside_step(self)
        rates = self._present()
        if self._is_initial:
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

    def _get_closed_form_lr(self) -> list:
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (b - self.eta_min) * share for b in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines from the initial rate to `eta_min`, again and again.

    "SGDR: Stochastic Gradient Descent with Warm Restarts" (Loshchilov & Hutter
    2016, arXiv 1608.03983). `step` takes the epoch as well, with fractions, so
    that it can be called after each batch.

    Args:
        optimizer: whose rates to set.
        T_0: epochs of the first half cosine.
        T_mult: each one is longer by this factor (1).
        eta_min: the lowest rate (0).
        last_epoch: the epoch to go on from, -1 for the start.

    Raises:
        ValueError: a length or factor that is no positive integer.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type "
                f"{type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The rates at `T_cur` of `T_i` epochs."""
        warn_outside_step(self)
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (b - self.eta_min) * share for b in self.base_lrs]

    @deferrable
    def step(self, epoch: float | None = None) -> None:
        """Goes on to the next epoch, or to this one, and sets the rates."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        with within_step(self):
            rates = self.get_lr()
        self._set(rates)

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        first, factor = self.T_0, self.T_mult
        if epoch < first:
            self.T_i, self.T_cur = first, epoch
        elif factor == 1:
            self.T_i, self.T_cur = first, epoch % first
        else:
            restarts = int(math.log(epoch / first * (factor - 1) + 1, factor))
            start = first * (factor**restarts - 1) / (factor - 1)
            self.T_i, self.T_cur = first * factor**restarts, epoch - start
