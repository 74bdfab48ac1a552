"""Bases of every kind of fake quantisation."""

from __future__ import annotations

from abc import ABC, abstractmethod

import hotaru

from ... import nn
from ._observing import _with_args


class FakeQuantizeBase(ABC, nn.Module):
    """Two parts that are on or off: an observer and fake quantisation.

    The switches are buffers, so that compiled and replicated models keep them.
    """

    def __init__(self) -> None:
        super().__init__()
        for name in ("fake_quant_enabled", "observer_enabled"):
            self.register_buffer(name, hotaru.tensor([1], dtype=hotaru.uint8))

    @abstractmethod
    def forward(self, x):
        """Returns what x is after quantisation."""

    @abstractmethod
    def calculate_qparams(self, **kwargs):
        """Scale and zero point."""

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Switches fake quantisation on."""
        self.fake_quant_enabled[0] = 1 if enabled else 0

    def disable_fake_quant(self) -> None:
        """Switches fake quantisation off."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Has scale and zero point follow the inputs."""
        self.observer_enabled[0] = 1 if enabled else 0

    def disable_observer(self) -> None:
        """Keeps scale and zero point as they are."""
        self.enable_observer(False)

    with_args = classmethod(_with_args)
