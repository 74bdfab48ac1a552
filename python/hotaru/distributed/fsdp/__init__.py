"""Modules whose parameters lie in parts on several processes.

    for block in model.layers:
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())

`FullyShardedDataParallel`, the older one, is not there: `fully_shard` is what
PyTorch recommends in its place.
"""

from __future__ import annotations

from ..._own_names import no_attribute
from ...nn import Module
from . import api, sharded_grad_scaler, wrap
from ._fully_shard import (
    FSDPModule,
    UnshardHandle,
    fully_shard,
    register_fsdp_forward_method,
)
from ._policies import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy
from .api import (
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)

__all__ = [
    *api.__all__,
    "CPUOffloadPolicy",
    "FSDPModule",
    "FullyShardedDataParallel",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "UnshardHandle",
    "fully_shard",
    "register_fsdp_forward_method",
]


_ONLY_NAMED = ": of FullyShardedDataParallel there is only the name; use fully_shard"


class FullyShardedDataParallel(Module):
    """The older way; programs ask whether a module is of this class.

    Raises:
        NotImplementedError: where one would be made.
    """

    def __init__(self, *args, **kwargs) -> None:
        raise NotImplementedError(
            "torch.distributed.fsdp.FullyShardedDataParallel: not there; call "
            "fully_shard(module) for the model's blocks and the model"
        )


TYPE_CHECKING = False
if not TYPE_CHECKING:

    def __getattr__(name: str):
        raise no_attribute(__name__, name, _ONLY_NAMED)
