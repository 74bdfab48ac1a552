"""Automatic mixed precision, as in ``torch.amp``.

with hotaru.autocast("cuda"):
    loss = loss_of(net(x), y)      # products in float16, sums in float32
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
"""

from __future__ import annotations

from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]
