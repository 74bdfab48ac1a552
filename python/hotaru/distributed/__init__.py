"""Programs for several processes, run as the one that they have here.

There is no transport for collectives between processes, so `is_available()` is
False, and a program that asks takes its path without one. One that does not ask
may make a world of one process, in which every collective does what it does for
one. Stores work between processes, and with PyTorch's own.
"""

from __future__ import annotations

from .collectives import (
    Work,
    all_gather,
    all_gather_into_tensor,
    all_gather_object,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    broadcast_object_list,
    gather,
    gather_object,
    irecv,
    isend,
    monitored_barrier,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    scatter_object_list,
    send,
)
from .groups import (
    Backend,
    GroupMember,
    ProcessGroup,
    ReduceOp,
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_initialized,
    new_group,
)
from .rendezvous import register_rendezvous_handler, rendezvous
from .stores import (
    DistError,
    DistNetworkError,
    DistStoreError,
    FileStore,
    HashStore,
    PrefixStore,
    Store,
    TCPStore,
)

__all__ = [
    "Backend", "DistError", "DistNetworkError", "DistStoreError", "FileStore",
    "GroupMember", "HashStore", "PrefixStore", "ProcessGroup", "ReduceOp",
    "Store", "TCPStore", "Work",
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce",
    "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier",
    "broadcast", "broadcast_object_list", "default_pg_timeout",
    "destroy_process_group", "gather", "gather_object", "get_backend",
    "get_global_rank", "get_group_rank", "get_node_local_rank",
    "get_process_group_ranks", "get_rank", "get_world_size", "group",
    "init_process_group", "irecv", "is_available", "is_backend_available",
    "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "is_ucc_available",
    "is_xccl_available", "isend", "monitored_barrier", "new_group", "recv",
    "reduce", "reduce_scatter", "reduce_scatter_tensor",
    "register_rendezvous_handler", "rendezvous", "scatter",
    "scatter_object_list", "send",
]  # fmt: skip


def is_available() -> bool:
    """False: processes cannot reach each other."""
    return False


def is_backend_available(backend: str) -> bool:
    """False: see `is_available`."""
    return False


def is_gloo_available() -> bool:
    """False: see `is_available`."""
    return False


def is_mpi_available() -> bool:
    """False: see `is_available`."""
    return False


def is_nccl_available() -> bool:
    """False: see `is_available`."""
    return False


def is_ucc_available() -> bool:
    """False: see `is_available`."""
    return False


def is_xccl_available() -> bool:
    """False: see `is_available`."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether `torchrun` started this process."""
    import os

    return "TORCHELASTIC_RUN_ID" in os.environ


def __getattr__(name: str):
    if name in ("device_mesh", "nn", "rpc", "tensor"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
