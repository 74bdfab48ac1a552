"""Deprecated names: use ``torch.amp.autocast("cpu")`` and its like."""

from __future__ import annotations

from .. import bfloat16
from ..amp._deprecated import deprecated

__all__ = ["GradScaler", "autocast"]

autocast, GradScaler = deprecated("cpu", __name__, bfloat16)
