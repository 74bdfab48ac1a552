"""The same names as `torch.distributed`, where PyTorch defines them."""

from __future__ import annotations

import warnings

from . import (
    c10d_names,
    groups,
    is_gloo_available,
    is_mpi_available,
    is_nccl_available,
    is_ucc_available,
    is_xccl_available,
)
from ._world import World, new_process_group_helper
from .c10d_names import *  # noqa: F403
from .groups import GroupMember, get_world_size

__all__ = [
    *c10d_names.__all__,
    "is_gloo_available",
    "is_mpi_available",
    "is_nccl_available",
    "is_ucc_available",
    "is_xccl_available",
]

_new_process_group_helper = new_process_group_helper
_get_default_group = groups.default_group
_world = World()
_pg_map = World.pg_map


def _broadcast_coalesced(process_group, tensors, buffer_size, src=0) -> None:
    """Every process's tensors become the root's, in few messages."""
    from .reducer import broadcast_coalesced

    broadcast_coalesced(tensors, process_group, src)


def _get_process_group_store(group):
    """Store that a group was met through."""
    return group.get_group_store()


def _get_default_store():
    """Store that the default group was met through."""
    return groups.default_group().get_group_store()


def _get_group_size(group) -> int:
    """How many processes a group has."""
    return get_world_size(group)


def _get_global_rank(group, rank: int) -> int:
    """Deprecated name of `get_global_rank`."""
    return _older("_get_global_rank", c10d_names.get_global_rank)(group, rank)


def _all_gather_base(output_tensor, input_tensor, group=None, async_op=False):
    """Deprecated name of `all_gather_into_tensor`."""
    gathers = _older("_all_gather_base", c10d_names.all_gather_into_tensor)
    return gathers(output_tensor, input_tensor, group, async_op)


def _reduce_scatter_base(output, input, op="sum", group=None, async_op=False):
    """Deprecated name of `reduce_scatter_tensor`."""
    scatters = _older("_reduce_scatter_base", c10d_names.reduce_scatter_tensor)
    return scatters(output, input, op, group, async_op)


def _older(name: str, function):
    warnings.warn(
        f"`torch.distributed.{name}` is deprecated; use "
        f"`torch.distributed.{function.__name__}` instead",
        FutureWarning,
        stacklevel=3,
    )
    return function


def _resolve_process_group(group_name: str):
    """The group of this name.

    Raises:
        ValueError: there is none.
    """
    return groups.by_name(group_name)


def _get_pg_default_device(group=None):
    """The device of what travels: the CPU."""
    from .. import device

    return device("cpu")


def _rank_not_in_group(group) -> bool:
    """True if this process is outside of a group."""
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def is_backend_available(backend: str) -> bool:
    """True if there is a backend of that name."""
    return backend.lower() == "gloo"
