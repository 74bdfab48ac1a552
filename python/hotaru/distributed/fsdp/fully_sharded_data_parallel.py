"""Where PyTorch has the older class: programs ask whether a module is of it."""

from __future__ import annotations

from ..._own_names import no_attribute
from . import _ONLY_NAMED, FullyShardedDataParallel
from .api import *  # noqa: F403
from .api import OptimStateKeyType

__all__ = ["FullyShardedDataParallel", "OptimStateKeyType"]


def __getattr__(name: str):
    raise no_attribute(__name__, name, _ONLY_NAMED)
