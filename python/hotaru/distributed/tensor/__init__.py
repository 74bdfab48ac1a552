"""Tensors that lie in parts on several ranks: how, and the class of which none
is.
"""

from __future__ import annotations

from ... import Tensor
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
]

_NONE = (
    "torch.distributed.tensor: no tensor lies in parts on several processes "
    "here; keep it whole in each (DistributedDataParallel does)"
)


class DTensor(Tensor):
    """A tensor in parts; programs ask whether one is of this class.

    Raises:
        NotImplementedError: where one would be made.
    """

    def __new__(cls, *args, **kwargs):
        """Refuses."""
        raise NotImplementedError(_NONE)

    @staticmethod
    def from_local(*args, **kwargs):
        """Refuses: see the class."""
        raise NotImplementedError(_NONE)


def distribute_tensor(*args, **kwargs):
    """Raises NotImplementedError, and says what there is instead."""
    raise NotImplementedError(_NONE)


def distribute_module(*args, **kwargs):
    """Raises NotImplementedError, and says what there is instead."""
    raise NotImplementedError(_NONE)


def __getattr__(name: str):
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: {_NONE}"
    )
