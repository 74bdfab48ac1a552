"""Parameters shared out among processes: the classes, of which none is."""

from __future__ import annotations

from ...nn import Module

__all__ = ["FSDPModule", "FullyShardedDataParallel", "fully_shard"]

_NONE = (
    "torch.distributed.fsdp: parameters are not shared out among processes "
    "here; DistributedDataParallel keeps them whole, and "
    "ZeroRedundancyOptimizer shares out the optimizer's state"
)


class FullyShardedDataParallel(Module):
    """A module in parts; programs ask whether one is of this class.

    Raises:
        NotImplementedError: where one would be made.
    """

    def __init__(self, *args, **kwargs) -> None:
        raise NotImplementedError(_NONE)


class FSDPModule:
    """What modules in parts are of; programs ask for it.

    Raises:
        NotImplementedError: where one would be made.
    """

    def __new__(cls, *args, **kwargs):
        """Refuses."""
        raise NotImplementedError(_NONE)


def fully_shard(*args, **kwargs):
    """Raises NotImplementedError, and says what there is instead."""
    raise NotImplementedError(_NONE)


def __getattr__(name: str):
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: {_NONE}"
    )
