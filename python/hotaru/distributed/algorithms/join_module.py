"""Part that DistributedDataParallel has in a `Join`."""

from __future__ import annotations

from ... import int32, tensor, zeros
from ..collectives import all_reduce
from ..reduce_op import ReduceOp
from ..reducer import broadcast_coalesced
from .join import Join, JoinHook

__all__ = ["JoinModule"]


def take_part(module, syncs: bool) -> None:
    """Does the part of a process that has data, before a forward pass."""
    work = Join.notify_join_context(module)
    if work is not None:
        divides = getattr(module, "_divides_by_all", True)
        module.reducer.active = None if divides else work.result()[0]
    _any_syncs(module, syncs)


def _any_syncs(module, mine: bool) -> bool:
    """True if the others' gradients are reduced in this iteration."""
    count = tensor([float(mine)])
    all_reduce(count, group=module.process_group)
    return bool(count.item())


def common_rank(module, has_data: bool) -> int:
    """The last process that has data."""
    group = module.process_group
    rank = tensor([group.rank() if has_data else -1], dtype=int32)
    all_reduce(rank, ReduceOp.MAX, group)
    return int(rank)


class JoinModule(JoinHook):
    """The collectives of an iteration, and the last one's model for all."""

    def __init__(self, module, divide_by_initial_world_size: bool) -> None:
        self.module = module
        module._divides_by_all = divide_by_initial_world_size

    def main_hook(self) -> None:
        """In the order in which the others do them."""
        module = self.module
        syncs = _any_syncs(module, False)
        if syncs:
            module.reducer._rebuild_buckets()
        if (
            module.broadcast_buffers
            and module._buffers_taken
            and module.require_forward_param_sync
            and module.process_group.size() > 1
        ):
            root = common_rank(module, False)
            broadcast_coalesced(module._buffers_taken, module.process_group, root)
        module.require_forward_param_sync = syncs
        if syncs:
            # Divided by those that have data: by nobody here.
            divides = module._divides_by_all
            module.reducer.active = None if divides else zeros(1)
            module.reducer.take_part()

    def post_hook(self, is_last_joiner: bool) -> None:
        """Everybody goes on with the model of who had the most data."""
        module = self.module
        module.reducer.active = None
        root = common_rank(module, is_last_joiner)
        states = [*module.module.parameters(), *module.module.buffers()]
        broadcast_coalesced(states, module.process_group, root)
