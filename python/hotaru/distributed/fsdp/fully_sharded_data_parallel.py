"""Where PyTorch has the older class: programs ask whether a module is of it."""

from __future__ import annotations

from . import FullyShardedDataParallel

__all__ = ["FullyShardedDataParallel"]


def __getattr__(name: str):
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: of "
        "FullyShardedDataParallel there is only the name; use fully_shard"
    )
