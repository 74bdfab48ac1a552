"""Groups of one process: what stands for PyTorch's process groups.

There is no transport between processes here. A world of one process is whole,
and every group of it has that process or nobody.
"""

from __future__ import annotations

import enum
import os
from datetime import timedelta

default_pg_timeout = timedelta(minutes=30)

_SEVERAL = (
    "torch.distributed: hotaru has no transport between processes, so a world "
    "has one process, not {}: run it with world_size=1, or use "
    "torch.multiprocessing to share tensors among processes of one machine"
)
_NO_DEFAULT = (
    "Default process group has not been initialized, please make sure to call "
    "init_process_group."
)


class Backend(str):
    """The name of what carries the collectives, in lower case."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    MPI = "mpi"

    def __new__(cls, name: str) -> Backend:
        """The same name in lower case; ValueError unless it is a string."""
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return str.__new__(cls, name.lower())


class RedOpType(enum.Enum):
    """The kinds of reduction."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


class ReduceOp:
    """How the tensors of the processes become one; with one, it is that."""

    RedOpType = RedOpType
    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR
    PREMUL_SUM = RedOpType.PREMUL_SUM


class ProcessGroup:
    """This process alone."""

    def __init__(self, backend: str, name: str = "0") -> None:
        self._backend = Backend(backend)
        self.group_name = name

    def rank(self) -> int:
        """Always 0."""
        return 0

    def size(self) -> int:
        """Always 1."""
        return 1

    def name(self) -> str:
        """The backend's name."""
        return str(self._backend)


class _GroupMeta(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:  # noqa: N802  (PyTorch's name)
        return _world

    @WORLD.setter
    def WORLD(cls, value) -> None:  # noqa: N802
        global _world
        _world = value


class group(metaclass=_GroupMeta):  # noqa: N801  (PyTorch's name)
    """`group.WORLD`: the default group; None before it is made."""


class GroupMember(metaclass=_GroupMeta):
    """The default group, and what stands for a group one is not in."""

    NON_GROUP_MEMBER = -100


_world: ProcessGroup | None = None
_made = 0


def init_process_group(
    backend=None, init_method=None, timeout=None, world_size: int = -1,
    rank: int = -1, store=None, group_name: str = "", pg_options=None,
    device_id=None, _ranks=None,
) -> None:  # fmt: skip
    """Makes the default group, of this process.

    The world's size is that of the argument, else of $WORLD_SIZE, else one.

    Raises:
        NotImplementedError: a world of several processes.
        ValueError: there is a group, or the rank is not 0.
    """
    global _world
    if _world is not None:
        raise ValueError(
            "trying to initialize the default process group twice!"
        )
    if world_size < 0:
        world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if rank < 0:
        rank = int(os.environ.get("RANK", "0"))
    if world_size != 1:
        raise NotImplementedError(_SEVERAL.format(world_size))
    if rank != 0:
        raise ValueError(f"rank {rank} in a world of one process")
    _world = ProcessGroup(backend or Backend.GLOO)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Forgets the default group; another group is let alone."""
    global _world
    if _world is None:
        raise AssertionError("Default process group not initialized")
    if group is None or group is _world:
        _world = None


def is_initialized() -> bool:
    """Whether there is a default group."""
    return _world is not None


def default_group() -> ProcessGroup:
    """The default group; ValueError without one."""
    if _world is None:
        raise ValueError(_NO_DEFAULT)
    return _world


def is_member(group) -> bool:
    """Whether this process is in a group; ValueError without any."""
    world = default_group()
    return group is None or group is world or isinstance(group, ProcessGroup)


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's number in a group; -1 outside of it."""
    return 0 if is_member(group) else -1


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes a group has; -1 outside of it."""
    return 1 if is_member(group) else -1


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name that the group was made with."""
    return (group or default_group())._backend


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks of a group's processes: [0]."""
    default_group()
    return [0]


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank in the world of a group's process."""
    return _known(group_rank)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in a group of a process of the world."""
    return _known(global_rank)


def _known(rank: int) -> int:
    if rank != 0:
        raise ValueError(f"rank {rank} is not in a group of one process")
    return rank


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """$LOCAL_RANK, else what is given; RuntimeError without both."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank "
        "to allow `get_node_local_rank` to work"
    )


def new_group(
    ranks=None, timeout=None, backend=None, pg_options=None,
    use_local_synchronization: bool = False, group_desc=None, device_id=None,
    sort_ranks: bool = True,
):  # fmt: skip
    """A group of these ranks: of this process, or one it is not in."""
    global _made
    world = default_group()
    if ranks is not None and any(r != 0 for r in ranks):
        raise ValueError("the new group's rank should be within the world size")
    if ranks is not None and not list(ranks):
        return GroupMember.NON_GROUP_MEMBER
    _made += 1
    return ProcessGroup(backend or world._backend, str(_made))
