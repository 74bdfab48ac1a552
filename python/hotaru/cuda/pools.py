"""Pools of memory by PyTorch's names: `MemPool`, `use_mem_pool`.

Each device has one pool, whose free memory serves every request. A pool of
one's own is a name for a part of the program: its tensors are as they would be
without it. What would need memory apart is refused.
"""

from __future__ import annotations

import contextlib
import itertools

from .._late import lent
from .devices import current_device, device_index

__all__ = ["MemPool", "use_mem_pool"]

_numbers = itertools.count(1)


class MemPool:
    """A pool's name.

    Args:
        allocator: must be None.
        use_on_oom, no_split: must be False.
    """

    def __init__(
        self, allocator=None, use_on_oom: bool = False, no_split: bool = False
    ) -> None:
        if allocator is not None or use_on_oom or no_split:
            raise NotImplementedError(
                "MemPool: a device's memory has one pool and one allocator; leave "
                "allocator, use_on_oom and no_split out"
            )
        self._id = (0, next(_numbers))
        self._uses = 1
        self._of_graphs = None

    @property
    def id(self) -> tuple[int, int]:
        """Numbers that no other pool has."""
        return self._id

    def use_count(self) -> int:
        """How many blocks use it now, and one."""
        return self._uses

    def snapshot(self, include_traces: bool = True) -> list:
        """Refused: its memory is not apart; see `memory_snapshot`."""
        raise NotImplementedError(
            "MemPool.snapshot: a device's memory has one pool; use "
            "torch.cuda.memory_snapshot()"
        )

    def _graph_pool(self):
        """The pool of graphs that are captured with it."""
        if self._of_graphs is None:
            self._of_graphs = lent("graphs").graph_pool_handle()
        return self._of_graphs


@contextlib.contextmanager
def use_mem_pool(pool: MemPool, device=None):
    """A block whose tensors are the pool's.

    Args:
        pool: to be used.
        device: the current one if None.
    """
    if not isinstance(pool, MemPool):
        raise TypeError(f"use_mem_pool: expected a MemPool, got {type(pool).__name__}")
    current_device() if device is None else device_index(device)
    pool._uses += 1
    try:
        yield
    finally:
        pool._uses -= 1
