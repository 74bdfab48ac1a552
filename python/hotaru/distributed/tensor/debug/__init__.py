"""Counts of what DTensors exchange."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...._C import _CollectiveKind as Kind
from ...._ops import namespace
from ... import _functional_ops, process_group

__all__ = ["CommDebugMode"]

_NAMES = {
    Kind.ALL_REDUCE: "all_reduce",
    Kind.BROADCAST: "broadcast",
    Kind.ALL_GATHER: "all_gather_into_tensor",
    Kind.REDUCE_SCATTER: "reduce_scatter_tensor",
    Kind.ALL_TO_ALL: "all_to_all_single",
}


class CommDebugMode:
    """Counts the collectives that this process begins inside.

    By operators of `torch.ops.c10d_functional`, whoever asked for them: a
    DTensor, `fully_shard`, the program. Messages between two and barriers do
    not count.
    """

    def __init__(self) -> None:
        self.comm_counts: Counter = Counter()

    def __enter__(self) -> CommDebugMode:
        _functional_ops.install()
        self.comm_counts.clear()
        process_group.watchers.append(self._count)
        return self

    def __exit__(self, *error) -> None:
        process_group.watchers.remove(self._count)

    def _count(self, kind: Kind) -> None:
        if kind in _NAMES:
            space = namespace("c10d_functional")
            self.comm_counts[getattr(space, _NAMES[kind])] += 1

    def get_comm_counts(self) -> dict[Any, int]:
        """How many of each operator."""
        return self.comm_counts

    def get_total_counts(self) -> int:
        """How many there were."""
        return sum(self.comm_counts.values())
