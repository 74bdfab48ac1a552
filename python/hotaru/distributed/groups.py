"""The world of processes, its groups, and which ranks are in them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

from .. import _C
from .. import device as _device
from .backends import mpi, nccl
from .launchers import value_of
from .process_group import ProcessGroup, ProcessGroupGloo, default_pg_timeout
from .rendezvous import rendezvous
from .stores import PrefixStore, Store

_NO_DEFAULT = (
    "Default process group has not been initialized, please make sure to call "
    "init_process_group."
)
_BUILT = ("gloo",)
_NOT_BUILT = {"mpi": "MPI", "ucc": "UCC", "xccl": "XCCL"}


class _Plugin(NamedTuple):
    """Who makes groups of a backend that a program brought."""

    creator_fn: Callable
    extended_api: bool


class Backend(str):
    """The name of what carries the collectives, in lower case."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]  # noqa: RUF012
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL}  # noqa: RUF012

    _plugins: dict[str, _Plugin] = {}  # noqa: RUF012

    @classmethod
    def register_backend(
        cls,
        name: str,
        func: Callable,
        extended_api: bool = False,
        devices: str | list[str] | None = None,
    ) -> None:
        """Makes func(store, rank, size, timeout), which gives a ProcessGroup,
        the maker of groups of a backend. `Backend.NAME` is its name then. With
        `extended_api` func is given a `_DistributedBackendOptions` and None.
        """
        setattr(cls, name.upper(), name.lower())
        if name.lower() not in cls.backend_list:
            cls.backend_list.append(name.lower())
        if isinstance(devices, str):
            devices = [devices]
        for device in devices or ():
            cls.default_device_backend_map.setdefault(device, name.lower())
        cls._plugins[name.upper()] = _Plugin(func, extended_api)

    def __new__(cls, name: str) -> Backend:
        """The same name in lower case; ValueError unless it is a string."""
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return str.__new__(cls, name.lower())


class BackendConfig:
    """Which backend carries the tensors of which type of device."""

    def __init__(self, backend: str | None) -> None:
        self.device_backend_map: dict[str, str] = {}
        name = (backend or "").lower()
        if not name or name == Backend.UNDEFINED:
            self.device_backend_map = {"cpu": Backend.GLOO}
        elif ":" in name:
            for pair in name.split(","):
                device, _, value = pair.strip().partition(":")
                if not device or not value or device in self.device_backend_map:
                    raise ValueError(
                        "The custom backend string argument is invalid: "
                        f"{backend}. Custom backend string is an experimental "
                        "feature where the backend string must be in the "
                        'format: "<device_type1>:<backend1>,'
                        '<device_type2>:<backend2>...". e.g. "cpu:gloo,'
                        'cuda:nccl"'
                    )
                self.device_backend_map[device] = value
        else:
            self.device_backend_map = {"cpu": name, "cuda": name}

    def get_device_backend_map(self) -> dict[str, str]:
        """By type of device."""
        return self.device_backend_map

    def __repr__(self) -> str:
        """`cpu:gloo,cuda:gloo`."""
        return ",".join(f"{d}:{b}" for d, b in self.device_backend_map.items())


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


_world: ProcessGroupGloo | None = None
# Names that the groups of this process were made with, by group.
_backends: dict[ProcessGroup, str] = {}


def by_name(name: str) -> ProcessGroup:
    """The group of this name.

    Raises:
        ValueError: there is none.
    """
    for group in _backends:
        if group.group_name == name:
            return group
    raise ValueError(f"there is no process group {name!r}")


# The ranks of the groups that were made without this process.
_others: list[list[int]] = []
_made = 0  # groups of this world; alike in every process of it
_begun = 0  # worlds of this process


def _check_backend(backend: str | None) -> str:
    """Checks what tensors of the CPU go by; an error for what is not there."""
    for name in BackendConfig(backend).device_backend_map.values():
        if name in _BUILT or (name == "mpi" and mpi.is_installed()):
            continue
        if name == "nccl":
            if why := nccl.why_not():
                raise RuntimeError(
                    "ProcessGroupNCCL is only supported with GPUs, no GPUs "
                    f"found! ({why})"
                    if _C._device_count("cuda") == 0
                    else f"NCCL is not found: {why}. It is in the package "
                    "nvidia-nccl-cu13 (or -cu12); the backend gloo needs none"
                )
            continue
        if name.upper() in Backend._plugins:
            continue
        if name in _NOT_BUILT:
            raise RuntimeError(
                "Distributed package doesn't have "
                f"{_NOT_BUILT[name]} built in; hotaru's backends are gloo, "
                "nccl, and mpi where the package mpi4py is installed"
            )
        raise AssertionError(f"Unknown backend type {name}")
    return backend or Backend.GLOO


def _plugin_of(backend: str) -> _Plugin | None:
    name = BackendConfig(backend).device_backend_map.get("cpu", "")
    return Backend._plugins.get(name.upper())


def _is_mpi(backend: str) -> bool:
    return BackendConfig(backend).device_backend_map.get("cpu") == "mpi"


def _check_timeout(timeout, backend: str = "") -> timedelta:
    if timeout is None:
        is_nccl = "nccl" in BackendConfig(backend).device_backend_map.values()
        return nccl.DEFAULT_TIMEOUT if is_nccl else default_pg_timeout
    if not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout}"
        )
    return timeout


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options=None,
    device_id=None,
    _ranks=None,
) -> None:
    """Meets the other processes: afterwards there is a default group.

    With the backend "mpi" they are those that mpirun started. Else with a
    store, or at the place that `init_method` names (`env://` unless it
    is given; see `rendezvous`). `timeout` is how long to wait for the others,
    and how long a collective may take. Tensors of GPUs go by NCCL with the
    backend "nccl" or without one, and by the host's memory with "gloo". With
    `device_id`, a GPU, all ranks' are connected at once, not at the first
    collective. `pg_options` are taken and not looked at.

    Raises:
        ValueError: there is a group already, or something is missing.
        DistNetworkError, DistStoreError: no store can be reached.
        DistBackendError: who has not come in time.
    """
    global _world, _made, _begun
    if _world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    timeout = _check_timeout(timeout, backend)
    asked = backend
    backend = _check_backend(backend)
    device = None if device_id is None else _device_of(device_id)
    if _is_mpi(backend):
        _world = mpi.ProcessGroupMPI(timeout=timeout)
        _made = 1
        _backends[_world] = backend
        return
    if store is not None:
        if world_size <= 0:
            raise AssertionError("world_size must be positive if using store")
        if rank < 0:
            raise AssertionError("rank must be non-negative if using store")
    else:
        url = init_method or "env://"
        store, rank, world_size = next(
            rendezvous(url, rank, world_size, timeout=timeout)
        )
        store.set_timeout(timeout)
    if not 0 <= rank < world_size:
        raise ValueError(f"rank {rank} is not in a world of {world_size}")
    _begun += 1
    place = PrefixStore(f"default_pg/{_begun}", store)
    plugin = _plugin_of(backend)
    if plugin is not None:
        _world = _foreign(plugin, place, rank, range(world_size), timeout, "0")
    else:
        _world = ProcessGroupGloo(
            place, rank, world_size, timeout, group_name or "0", "default_pg"
        )
        _world._carriers = _carriers_of(backend, asked)
        _world._bound_device = device
    _made = 1
    _backends[_world] = backend
    if device is not None and device.type == "cuda" and plugin is None:
        _world.connect(device)


def _carriers_of(backend: str, asked: str | None) -> dict[str, str]:
    """By type of device; what nobody asked for is found when it is needed."""
    if asked is None or asked == Backend.UNDEFINED:
        return {}
    return BackendConfig(backend).get_device_backend_map()


def _device_of(value):
    """A device with an index; ValueError without one."""
    is_number = isinstance(value, int)
    found = _device("cuda", value) if is_number else _device(value)
    if found.type != "cpu" and found.index is None:
        raise ValueError(
            "init_process_group device_id parameter must be a device with an index"
        )
    return found


class _DistributedBackendOptions:
    """Options of a group that is to be made."""

    store = None
    group_rank = group_size = 0
    timeout = default_pg_timeout
    group_id = ""
    global_ranks_in_group: Sequence[int] = ()


def _foreign(
    plugin: _Plugin,
    store,
    rank: int,
    ranks: Sequence[int],
    timeout: timedelta,
    name: str,
) -> ProcessGroup:
    """A group of a program's backend; TypeError if it makes something else."""
    if plugin.extended_api:
        opts = _DistributedBackendOptions()
        opts.store, opts.timeout, opts.group_id = store, timeout, name
        opts.group_rank, opts.group_size = rank, len(ranks)
        opts.global_ranks_in_group = list(ranks)
        made = plugin.creator_fn(opts, None)
    else:
        made = plugin.creator_fn(store, rank, len(ranks), timeout)
    if not isinstance(made, ProcessGroup):
        raise TypeError(f"a backend's function gives a ProcessGroup, not {made!r}")
    made._store, made._handle.timeout = store, timeout
    made._handle.ranks, made.group_name = list(ranks), name
    return made


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Leaves a group; without one, or for the default group, all of them."""
    global _world, _made
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    if _world is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is _world:
        for each in list(_backends):
            each.shutdown()
        if hasattr(_world, "close"):
            _world.close()
        _world, _made = None, 0
        _backends.clear()
        _others.clear()
        return
    if group not in _backends:
        raise _invalid()
    del _backends[group]
    group.shutdown()


def is_initialized() -> bool:
    """True if there is a default group."""
    return _world is not None


def default_group() -> ProcessGroup:
    """The default group; ValueError without one."""
    if _world is None:
        raise ValueError(_NO_DEFAULT)
    return _world


def _invalid() -> ValueError:
    return ValueError("Invalid process group specified")


def member(group) -> ProcessGroup | None:
    """The group that is meant; None where this process is not in it.

    Raises:
        ValueError: there is no default group, or this one has ended.
    """
    if group is None or group is _world:
        return default_group()
    if isinstance(group, ProcessGroup):
        return group
    default_group()
    if group == GroupMember.NON_GROUP_MEMBER:
        return None
    raise _invalid()


def warn_not_in_group(what: str) -> None:
    """As PyTorch does where a process calls for a group it is not in."""
    rank = -1 if _world is None else _world.rank()
    warnings.warn(
        f"Running {what} on global rank {rank} which does not belong to the "
        "given group.",
        stacklevel=3,
    )


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's number in a group; -1 outside of it."""
    found = member(group)
    return -1 if found is None else found.rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes a group has; -1 outside of it."""
    found = member(group)
    return -1 if found is None else found.size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name of what carries the group's collectives."""
    return Backend((group or default_group()).name())


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """By type of device: `cpu:gloo,cuda:gloo`."""
    return str(BackendConfig(_backends[group or default_group()]))


def get_default_backend_for_device(device) -> str:
    """The name of what carries tensors of a device.

    Raises:
        ValueError: nothing does.
    """
    kind = getattr(device, "type", None) or str(device).partition(":")[0]
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.default_device_backend_map[kind]


def get_pg_count() -> int:
    """How many groups this process is in."""
    return len(_backends)


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks in the world of a group's processes, in its order.

    What stands for a group that this process is not in stands for all such.

    Raises:
        ValueError: for what stands for several of them, or for none.
    """
    if group == GroupMember.NON_GROUP_MEMBER:
        if len(_others) != 1:
            raise ValueError(
                f"this process is outside of {len(_others)} groups: which one "
                "is meant can't be told from GroupMember.NON_GROUP_MEMBER"
            )
        return list(_others[0])
    return list((group or default_group())._handle.ranks)


def check_group_rank(rank: int, count: int, group: ProcessGroup) -> None:
    if not 0 <= rank < count:
        raise ValueError(f"Group rank {rank} is not part of group {group}")


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank in the world of a group's process."""
    ranks = get_process_group_ranks(group)
    check_group_rank(group_rank, len(ranks), group)
    return ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in a group of a process of the world."""
    ranks = get_process_group_ranks(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The launcher's, else what is given; RuntimeError without both."""
    if (local := value_of("LOCAL_RANK")) is not None:
        return int(local)
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. "
        "Consider passing fallback_rank to allow `get_node_local_rank` to work"
    )


def _check_ranks(ranks: Sequence[int], world: ProcessGroup) -> None:
    if len(ranks) > world.size():
        raise ValueError(
            "the new group's world size should be less or equal to the world "
            "size set by init_process_group"
        )
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"ranks list must not contain duplicate entries, got {ranks}")
    for rank in ranks:
        if not 0 <= rank < world.size():
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to "
                f"{world.size() - 1} (world_size={world.size()})"
            )


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options=None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id=None,
    sort_ranks: bool = True,
):
    """A group of these ranks of the world; what stands for one outside of it.

    All processes of the world call it, in the same order, those outside, too,
    unless with `use_local_synchronization`.

    Raises:
        ValueError: a rank that does not exist, or twice.
    """
    global _made
    world = default_group()
    asked = backend
    backend = _check_backend(backend or _backends[world])
    if _is_mpi(backend) != (world.name() == "mpi"):
        raise NotImplementedError(
            f"new_group: a world of {world.name()} has no groups of {backend}"
        )
    timeout = world._timeout if timeout is None else _check_timeout(timeout)
    ranks = list(range(world.size()) if ranks is None else map(int, ranks))
    _check_ranks(ranks, world)
    if sort_ranks:
        ranks.sort()
    if use_local_synchronization:
        if world.rank() not in ranks:
            return None
        # Processes outside do not count it.
        name = "local:" + ",".join(map(str, ranks))
        known = {g.group_name for g in _backends}
        again = sum(n == name or n.startswith(name + "#") for n in known)
        name += f"#{again}" if again else ""
    else:
        name = str(_made)
        _made += 1
        if world.rank() not in ranks:
            if ranks not in _others:
                _others.append(ranks)
            return GroupMember.NON_GROUP_MEMBER
    plugin = _plugin_of(backend)
    if plugin is not None:
        place = PrefixStore(f"group/{name}", world.get_group_store())
        own = ranks.index(world.rank())
        made = _foreign(plugin, place, own, ranks, timeout, name)
    else:
        made = world.subgroup(ranks, name, group_desc or "undefined", timeout)
        if asked is not None:
            made._carriers = _carriers_of(backend, asked)
    _backends[made] = backend
    return made


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options=None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup, list]:
    """Neighbours of `group_size`: this process's group, and all of them.

    Args:
        group_size: how many; those of one machine if None.
        group: whose processes are shared out; all if None.
        timeout, backend, pg_options, group_desc: as of `new_group`.

    Raises:
        ValueError: the size does not divide the group's.
    """
    if group_size is None:
        group_size = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    size = get_world_size(group)
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(
            f"The arg 'group_size' ({group_size}) must not exceed the world "
            f"size ({size})"
        )
    if size % group_size:
        raise ValueError(
            f"The world size ({size}) must be divisible by 'group_size={group_size}'"
        )
    ranks = get_process_group_ranks(group)
    lists = [ranks[i : i + group_size] for i in range(0, size, group_size)]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options=None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup | None, list]:
    """A group for each list: this process's, and all of them.

    Raises:
        ValueError: a rank is in two of them, or there are none.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen: set[int] = set()
    for ranks in ranks_per_subgroup_list:
        if twice := seen.intersection(ranks):
            raise ValueError(f"Rank {min(twice)} has appeared in both subgroups")
        seen.update(ranks)
    mine, groups = None, []
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        groups.append(made)
        if isinstance(made, ProcessGroup):
            mine = made
    return mine, groups


def split_group(
    parent_pg: ProcessGroup | None = None,
    split_ranks: list | None = None,
    timeout: timedelta | None = None,
    pg_options=None,
    group_desc: str | None = None,
) -> ProcessGroup | None:
    """This process's part of a group; None if it is in none.

    All processes of the parent call it with the same lists of its ranks.

    Raises:
        ValueError: no lists, a rank that is not in the parent, or twice.
    """
    parent = parent_pg or default_group()
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    everybody = get_process_group_ranks(parent)
    flat = [rank for ranks in split_ranks for rank in ranks]
    if len(set(flat)) != len(flat):
        raise ValueError("the split group cannot have duplicate ranks")
    if any(not 0 <= rank < len(everybody) for rank in flat):
        raise ValueError("the split group must be within the parent group")
    parent._splits = getattr(parent, "_splits", 0) + 1
    for index, ranks in enumerate(split_ranks):
        if parent.rank() not in ranks:
            continue
        name = f"{parent.group_name}:split:{parent._splits}:{index}"
        made = default_group().subgroup(
            [everybody[rank] for rank in sorted(ranks)],
            name,
            group_desc or f"{parent.group_desc}:split:{index}",
            timeout or parent._timeout,
        )
        _backends[made] = _backends[parent]
        return made
    return None
