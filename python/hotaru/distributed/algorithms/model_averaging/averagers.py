"""When parameters are averaged."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ...groups import default_group
from .utils import average_parameters_or_parameter_groups

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """Counts steps, and averages parameters at some of them."""

    def __init__(self, process_group=None) -> None:
        self.process_group = process_group or default_group()
        self.step = 0

    @abstractmethod
    def average_parameters(self, params) -> None:
        """Called once a step."""


class PeriodicModelAverager(ModelAverager):
    """Averages every `period` steps after the first `warmup_steps`.

    Raises:
        ValueError: negative steps, a period that is not positive.
    """

    def __init__(self, period: int, warmup_steps: int = 0, process_group=None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period <= 0:
            raise ValueError("Arg ``period`` must be a positive value.")
        self.warmup_steps, self.period = warmup_steps, period

    def average_parameters(self, params) -> None:
        """Averages, if it is time."""
        late = self.step >= self.warmup_steps
        if late and (self.step - self.warmup_steps) % self.period == 0:
            average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
