"""Programs of several processes: groups, collectives, stores.

Tensors of the CPU go over sockets ("gloo", in PyTorch's words) or by MPI, those
of GPUs by NCCL. The processes find each other through a store, which may be
PyTorch's own.
"""

from __future__ import annotations

from .._own_names import part
from . import c10d_names
from .c10d_names import *
from .work import Work as _Work

__all__ = list(c10d_names.__all__)


def is_available() -> bool:
    """True."""
    return True


def is_backend_available(backend: str) -> bool:
    """True if there is a backend of that name."""
    name = backend.lower()
    from .groups import Backend

    if name.upper() in Backend._plugins:
        return True
    if name in ("mpi", "nccl"):
        return is_mpi_available() if name == "mpi" else is_nccl_available()
    return name == "gloo"


def is_gloo_available() -> bool:
    """True: collectives of the CPU's tensors."""
    return True


def is_mpi_available() -> bool:
    """True if mpi4py is installed, and MPI's launcher started the process."""
    from .backends.mpi import is_available

    return is_available()


def is_nccl_available() -> bool:
    """True if there is a GPU, and NCCL, which carries its tensors."""
    from .backends.nccl import is_available

    return is_available()


def is_ucc_available() -> bool:
    """False."""
    return False


def is_xccl_available() -> bool:
    """False."""
    return False


def is_torchelastic_launched() -> bool:
    """True if `torchrun` started this process."""
    import os

    return "TORCHELASTIC_RUN_ID" in os.environ


_LATER = (
    "algorithms",
    "checkpoint",
    "collective_utils",
    "constants",
    "device_mesh",
    "distributed_c10d",
    "elastic",
    "fsdp",
    "nn",
    "optim",
    "pipelining",
    "rpc",
    "tensor",
    "utils",
)
_FROM_LATER = {
    "BuiltinCommHookType": "reducer",
    "DeviceMesh": "device_mesh",
    "GradBucket": "reducer",
    "_all_gather_base": "distributed_c10d",
    "_broadcast_coalesced": "distributed_c10d",
    "_compute_bucket_assignment_by_size": "reducer",
    "_make_nccl_premul_sum": "reduce_op",
    "_rank_not_in_group": "distributed_c10d",
    "_reduce_scatter_base": "distributed_c10d",
    "init_device_mesh": "device_mesh",
}


def __getattr__(name: str):
    import importlib

    if name in _FROM_LATER:
        module = importlib.import_module(f"{__name__}.{_FROM_LATER[name]}")
        return getattr(module, name)
    return part(__name__, name, _LATER)
