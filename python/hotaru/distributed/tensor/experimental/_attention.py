"""Attention over a sequence that lies in parts on several processes.

PyTorch passes parts around while each process computes with its own; hotaru
does not. Names are there, and say what there is instead.
"""

from __future__ import annotations

from enum import Enum, auto

__all__ = ["context_parallel", "context_parallel_unshard", "set_rotate_method"]


class _RotateMethod(Enum):
    ALL_TO_ALL = auto()
    ALL_GATHER = auto()


class _Options:
    """Options of `context_parallel`."""

    def __init__(self) -> None:
        self.rotate_method = _RotateMethod.ALL_GATHER
        self.convert_to_f32 = True
        self.enable_load_balance = True


_cp_options = _Options()
_INSTEAD = (
    "hotaru has no attention over parts of a sequence; shard the batch "
    "(DistributedDataParallel, fully_shard) or the heads "
    "(torch.distributed.tensor.parallel)"
)


def set_rotate_method(rotate_method: str) -> None:
    """Keeps how parts would be passed around: "allgather" or "alltoall".

    NotImplementedError: it is neither.
    """
    methods = {
        "allgather": _RotateMethod.ALL_GATHER,
        "alltoall": _RotateMethod.ALL_TO_ALL,
    }
    if rotate_method not in methods:
        raise NotImplementedError(
            "Context Parallel does not support "
            f"using {rotate_method} for kv shards rotation"
        )
    _cp_options.rotate_method = methods[rotate_method]


def context_parallel(
    mesh, *, buffers=None, buffer_seq_dims=None, no_restore_buffers=None
):
    """Raises NotImplementedError, and says what there is instead."""
    raise NotImplementedError(f"context_parallel: {_INSTEAD}")


def context_parallel_unshard(mesh, buffers, seq_dims, load_balancer=None):
    """Raises NotImplementedError: nothing lies in such parts."""
    raise NotImplementedError(f"context_parallel_unshard: {_INSTEAD}")
