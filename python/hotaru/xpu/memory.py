"""Memory of XPU devices: there is none, and none is used."""

from __future__ import annotations

from collections import OrderedDict

from ._absent import OfDevices, needs_device

__all__ = [
    "MemPool",
    "XPUPluggableAllocator",
    "change_current_allocator",
    "empty_cache",
    "get_per_process_memory_fraction",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]


def empty_cache() -> None:
    """Returns at once: no memory is kept."""


def get_per_process_memory_fraction(device=None) -> float:
    """Raises: there is no such device."""
    needs_device()


def set_per_process_memory_fraction(fraction: float, device=None) -> None:
    """Raises: there is no such device."""
    needs_device()


def mem_get_info(device=None) -> tuple[int, int]:
    """Raises: there is no such device."""
    needs_device()


def max_memory_allocated(device=None) -> int:
    """How many bytes: none."""
    return 0


def max_memory_reserved(device=None) -> int:
    """How many bytes: none."""
    return 0


def memory_allocated(device=None) -> int:
    """How many bytes: none."""
    return 0


def memory_reserved(device=None) -> int:
    """How many bytes: none."""
    return 0


def memory_snapshot(mempool_id=None) -> list:
    """Blocks of memory: none."""
    return []


def memory_stats(device=None) -> OrderedDict:
    """Counts by name: none."""
    return OrderedDict()


def memory_stats_as_nested_dict(device=None) -> dict:
    """Counts in groups: none."""
    return {}


def reset_accumulated_memory_stats(device=None) -> None:
    """Returns at once: nothing was counted."""


def reset_peak_memory_stats(device=None) -> None:
    """Returns at once: nothing was counted."""


def change_current_allocator(allocator) -> None:
    """Raises: there is no such device."""
    needs_device()


def use_mem_pool(pool, device=None):
    """Raises: there is no such device."""
    needs_device()


class MemPool(OfDevices):
    """A part of a device's memory."""


class XPUPluggableAllocator:
    """Memory of a device by functions of a library."""

    def __init__(
        self, path_to_lib_file: str, alloc_fn_name: str, free_fn_name: str
    ) -> None:
        needs_device()
