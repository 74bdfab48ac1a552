"""Generic names for the device beside the CPU: CUDA where there is a device of
it. Elsewhere streams are those of the CPU, and memory counts are 0.
"""

from __future__ import annotations

import collections
import warnings

from . import _C, cpu, cuda
from ._extension.streams import stream

__all__ = [
    "current_accelerator", "current_device_idx", "current_device_index",
    "current_stream", "device_count", "device_index", "empty_cache",
    "get_memory_info", "is_available", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved",
    "memory_stats", "reset_accumulated_memory_stats",
    "reset_peak_memory_stats", "set_device_idx", "set_device_index",
    "set_stream", "stream", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a device beside the CPU."""
    return cuda.is_available()


def current_accelerator(check_available: bool = False):
    """The kind of device beside the CPU, ``device("cuda")``, or ``None``."""
    return _C.device("cuda") if cuda.is_available() else None


def device_count() -> int:
    """How many devices there are beside the CPU."""
    return cuda.device_count()


def current_device_index() -> int:
    """Index of this thread's current device; 0 where that is the CPU."""
    return cuda.current_device() if cuda.is_available() else 0


def set_device_index(device) -> None:
    """Makes a device this thread's current one; negative ones do nothing."""
    index = _index(device, optional=False)
    if index >= 0 and _needs_device():
        cuda.set_device(index)


def current_device_idx() -> int:
    """Deprecated name of `current_device_index`."""
    warnings.warn(
        "Use `current_device_index` instead.", FutureWarning, stacklevel=2
    )
    return current_device_index()


def set_device_idx(device) -> None:
    """Deprecated name of `set_device_index`."""
    warnings.warn(
        "Use `set_device_index` instead.", FutureWarning, stacklevel=2
    )
    set_device_index(device)


class device_index:  # noqa: N801
    """Makes a device current for a ``with`` block; ``None`` changes nothing."""

    def __init__(self, device: int | None) -> None:
        self.idx = device
        self._entered: list[cuda.device] = []

    def __enter__(self) -> None:
        index = -1 if self.idx is None else self.idx
        if index >= 0:
            _needs_device()
        entered = cuda.device(index)
        entered.__enter__()
        self._entered.append(entered)

    def __exit__(self, *error) -> None:
        self._entered.pop().__exit__(*error)


def current_stream(device=None) -> _C.Stream:
    """The stream that this thread's operators on a device go to."""
    if not cuda.is_available():
        return cpu.current_stream(device)
    return cuda.current_stream(_index(device))


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
        cuda.synchronize(_index(device))


def empty_cache() -> None:
    """Gives memory that no tensor uses back to the driver."""
    cuda.empty_cache()


def memory_stats(device_index=None) -> collections.OrderedDict:
    """Counters of a device's allocator, see `torch.cuda.memory_stats`."""
    if not cuda.is_initialized():
        return collections.OrderedDict()
    return cuda.memory_stats(_index(device_index))


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
        cuda.reset_peak_memory_stats(_index(device_index))


def reset_accumulated_memory_stats(device_index=None) -> None:
    """Sets the totals of `memory_stats` to 0."""
    if cuda.is_initialized():
        cuda.reset_accumulated_memory_stats(_index(device_index))


def get_memory_info(device_index=None) -> tuple[int, int]:
    """Free and total bytes of a device."""
    _needs_device()
    return cuda.mem_get_info(_index(device_index))


def _needs_device() -> bool:
    if not cuda.is_available():
        raise RuntimeError(
            "Cannot access accelerator device when none is available."
        )
    return True


def _index(device, optional: bool = True) -> int:
    """The index that an argument means, which may be of any form."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = _C.device(device)
    if isinstance(device, _C.device):
        if not cuda.is_available():
            raise RuntimeError("Accelerator expected")
        if device.type != "cuda":
            raise ValueError(
                f"{device.type} doesn't match the current accelerator cuda."
            )
        if device.index is not None:
            return device.index
    elif device is not None:
        optional = False
    if not optional:
        raise ValueError(
            "Expected a torch.device with a specified index or an integer, "
            f"but got:{device}"
        )
    return current_device_index()
