"""How much memory the device beside the CPU has, and tensors take."""

from __future__ import annotations

import collections

from .. import cuda
from ._device import index_of, needs_device

__all__ = [
    "empty_cache",
    "get_memory_info",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
]


def empty_cache() -> None:
    """Gives memory that no tensor uses back to the driver."""
    cuda.empty_cache()


def memory_stats(device_index=None) -> collections.OrderedDict:
    """Counters of a device's allocator, see `torch.cuda.memory_stats`."""
    if not cuda.is_initialized():
        return collections.OrderedDict()
    return cuda.memory_stats(index_of(device_index))


def memory_allocated(device_index=None) -> int:
    """Bytes that tensors use now."""
    return memory_stats(device_index).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device_index=None) -> int:
    """The most that `memory_allocated` was since the last reset."""
    return memory_stats(device_index).get("allocated_bytes.all.peak", 0)


def memory_reserved(device_index=None) -> int:
    """Bytes in use and those kept for later."""
    return memory_stats(device_index).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device_index=None) -> int:
    """The most that `memory_reserved` was since the last reset."""
    return memory_stats(device_index).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device_index=None) -> None:
    """From now on the peaks of `memory_stats` count anew."""
    if cuda.is_initialized():
        cuda.reset_peak_memory_stats(index_of(device_index))


def reset_accumulated_memory_stats(device_index=None) -> None:
    """Sets the totals of `memory_stats` to 0."""
    if cuda.is_initialized():
        cuda.reset_accumulated_memory_stats(index_of(device_index))


def get_memory_info(device_index=None) -> tuple[int, int]:
    """Free and total bytes of a device."""
    needs_device()
    return cuda.mem_get_info(index_of(device_index))
