"""The scaler, where older programs import it from."""

from __future__ import annotations

from ...amp.grad_scaler import OptState
from . import GradScaler

__all__ = ["GradScaler", "OptState"]
