"""Deprecated names: use ``torch.amp.autocast("cpu")`` and its like."""

from __future__ import annotations

from .. import bfloat16
from .._own_names import add_parts as _add_parts
from ..amp._deprecated import deprecated

__all__ = ["GradScaler", "autocast"]

autocast, GradScaler = deprecated("cpu", __name__, bfloat16)
_add_parts(
    f"{__package__}.amp",
    {
        "autocast_mode": {"autocast": autocast},
        "grad_scaler": {"GradScaler": GradScaler},
    },
)
