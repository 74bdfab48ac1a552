"""Generic names for the device beside the CPU: CUDA where there is a device of
it. Elsewhere streams are those of the CPU, and memory counts are 0.
"""

from __future__ import annotations

import warnings

from .. import _C, cpu, cuda
from .._extension.streams import stream
from . import random
from ._device import current_device_index, index_of, needs_device
from .memory import (
    empty_cache,
    get_memory_info,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """True if there is a device beside the CPU."""
    return cuda.is_available()


def current_accelerator(check_available: bool = False):
    """The kind of device beside the CPU, ``device("cuda")``, or ``None``."""
    return _C.device("cuda") if cuda.is_available() else None


def device_count() -> int:
    """How many devices there are beside the CPU."""
    return cuda.device_count()


def set_device_index(device) -> None:
    """Makes a device this thread's current one; negative ones do nothing."""
    index = index_of(device, optional=False)
    if index >= 0 and needs_device():
        cuda.set_device(index)


def current_device_idx() -> int:
    """Deprecated name of `current_device_index`."""
    warnings.warn("Use `current_device_index` instead.", FutureWarning, stacklevel=2)
    return current_device_index()


def set_device_idx(device) -> None:
    """Deprecated name of `set_device_index`."""
    warnings.warn("Use `set_device_index` instead.", FutureWarning, stacklevel=2)
    set_device_index(device)


class device_index:  # noqa: N801
    """Makes a device current for a ``with`` block; ``None`` changes nothing."""

    def __init__(self, device: int | None) -> None:
        self.idx = device
        self._entered: list[cuda.device] = []

    def __enter__(self) -> None:
        index = -1 if self.idx is None else self.idx
        if index >= 0:
            needs_device()
        entered = cuda.device(index)
        entered.__enter__()
        self._entered.append(entered)

    def __exit__(self, *error) -> None:
        self._entered.pop().__exit__(*error)


def current_stream(device=None) -> _C.Stream:
    """The stream that this thread's operators on a device go to."""
    if not cuda.is_available():
        return cpu.current_stream(device)
    return cuda.current_stream(index_of(device))


def set_stream(stream: _C.Stream) -> None:
    """Makes a stream, and its device, current from here on."""
    if stream.device.type == "cuda":
        cuda.set_stream(stream)
    else:
        _C._set_stream(stream)


def synchronize(device=None) -> None:
    """Waits for all work on a device, by default the current one.

    Without an accelerator it waits for the CPU's streams.
    """
    if not cuda.is_available():
        cpu.synchronize(device)
    elif cuda.is_initialized():
        cuda.synchronize(index_of(device))


current_device_index.__module__ = __name__
