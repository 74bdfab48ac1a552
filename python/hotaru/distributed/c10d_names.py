"""The names of groups, collectives and stores, in one place.

`torch.distributed` and `torch.distributed.distributed_c10d` both have them.
"""

from __future__ import annotations

from .collectives import (
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_single,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_single,
    reduce_scatter_tensor,
    scatter,
)
from .debug import (
    DebugLevel,
    get_debug_level,
    set_debug_level,
    set_debug_level_from_env,
)
from .groups import (
    Backend,
    BackendConfig,
    GroupMember,
    destroy_process_group,
    get_backend,
    get_backend_config,
    get_default_backend_for_device,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_initialized,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
    split_group,
)
from .messages import P2POp, batch_isend_irecv, irecv, isend, recv, send
from .objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .options import (
    AllgatherOptions,
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from .process_group import (
    ProcessGroup,
    ProcessGroupGloo,
    ProcessGroupNCCL,
    default_pg_timeout,
)
from .reduce_op import ReduceOp, reduce_op
from .rendezvous import register_rendezvous_handler, rendezvous
from .stores import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    FileStore,
    HashStore,
    PrefixStore,
    QueueEmptyError,
    Store,
    TCPStore,
)
from .work import Work

__all__ = [
    "AllToAllOptions", "AllgatherOptions", "AllreduceCoalescedOptions",
    "AllreduceOptions", "Backend", "BackendConfig", "BarrierOptions",
    "BroadcastOptions", "DebugLevel", "DistBackendError", "DistError",
    "DistNetworkError", "DistStoreError", "FileStore", "GatherOptions",
    "GroupMember", "HashStore", "P2POp", "PrefixStore", "ProcessGroup",
    "ProcessGroupGloo", "ProcessGroupNCCL", "QueueEmptyError", "ReduceOp",
    "ReduceOptions", "ReduceScatterOptions", "ScatterOptions", "Store",
    "TCPStore", "Work", "all_gather",
    "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object",
    "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all",
    "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast",
    "broadcast_object_list", "default_pg_timeout", "destroy_process_group",
    "gather", "gather_object", "get_backend", "get_backend_config",
    "get_debug_level", "get_default_backend_for_device", "get_global_rank",
    "get_group_rank", "get_node_local_rank", "get_pg_count",
    "get_process_group_ranks", "get_rank", "get_world_size", "group",
    "init_process_group", "irecv", "is_initialized", "isend",
    "monitored_barrier", "new_group", "new_subgroups",
    "new_subgroups_by_enumeration", "recv", "recv_object_list", "reduce",
    "reduce_op", "reduce_scatter", "reduce_scatter_single",
    "reduce_scatter_tensor", "register_rendezvous_handler", "rendezvous",
    "scatter", "scatter_object_list", "send", "send_object_list",
    "set_debug_level", "set_debug_level_from_env", "split_group",
]  # fmt: skip
