"""Options of where processes run: hotaru binds none, `numactl` does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["AffinityMode", "NumaOptions"]


class AffinityMode(str, Enum):
    """Processors of one process: those of a memory node, of a socket, a share
    of a node's, or those that share a cache.
    """

    NODE = "node"
    SOCKET = "socket"
    EXCLUSIVE = "exclusive"
    CORE_COMPLEX = "core-complex"


@dataclass(frozen=True)
class NumaOptions:
    """A mode, and whether processes start where it cannot be had."""

    affinity_mode: AffinityMode
    should_fall_back_if_binding_fails: bool = False
