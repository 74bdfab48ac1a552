"""Memory of CUDA devices: what is in use, what is kept for later, limits.

Blocks that tensors gave back are kept for the next ones of their stream. Sizes
are bytes. A device is an index, a string or a ``torch.device``, by default the
current one. All functions are thread-safe.
"""

from __future__ import annotations

import collections
import warnings

from .. import _C
from ._begin import begin as _lazy_init
from ._begin import device_count
from .devices import current_device, device_index, get_device_properties
from .devices import device as _device
from .streams import ExternalStream, current_stream
from .streams import stream as _stream

__all__ = [
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "list_gpu_processes",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]


def _index(device) -> int:
    _lazy_init()
    return device_index(device, optional=True)


def empty_cache() -> None:
    """Gives memory that no tensor uses back to the driver, of all devices and
    page-locked memory of the host, too.
    """
    if _C._cuda_initialized():
        _C._cuda_empty_cache()


def mem_get_info(device=None) -> tuple[int, int]:
    """Free and total bytes of a device, as the driver counts them."""
    return _C._cuda_memory_info(_index(device))


def memory_stats_as_nested_dict(device=None) -> dict:
    """`memory_stats` as nested dictionaries."""
    if not _C._cuda_initialized():
        return {}
    stats = _C._cuda_memory_stats(_index(device))
    # A block that its tensor gave back is free at once: none is active beyond
    # those in use.
    stats["active"] = stats["allocation"]
    stats["active_bytes"] = stats["allocated_bytes"]
    return stats


def memory_stats(device=None) -> collections.OrderedDict:
    """Counters of a device's allocator, by names like
    "allocated_bytes.all.current"; empty before CUDA began.

    Each of allocation, active and segment (numbers of blocks, and of pieces
    taken from the driver), allocated_bytes, active_bytes, requested_bytes
    (without rounding up) and reserved_bytes has all, small_pool (blocks up to
    1 MiB) and large_pool; each of these current, peak, allocated and freed
    (totals). Further num_alloc_retries and num_ooms. PyTorch's other keys
    describe what its allocator does and this one does not: they are absent.
    """
    flat = []

    def flatten(prefix: str, value) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                flatten(f"{prefix}.{key}" if prefix else key, inner)
        else:
            flat.append((prefix, value))

    flatten("", memory_stats_as_nested_dict(device))
    return collections.OrderedDict(sorted(flat))


def memory_allocated(device=None) -> int:
    """Bytes that tensors use now."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device=None) -> int:
    """The most that `memory_allocated` was since the last reset."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device=None) -> int:
    """Bytes in use and those kept for later."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device=None) -> int:
    """The most that `memory_reserved` was since the last reset."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def memory_cached(device=None) -> int:
    """Deprecated name of `memory_reserved`."""
    _warn_renamed("memory_cached", "memory_reserved")
    return memory_reserved(device)


def max_memory_cached(device=None) -> int:
    """Deprecated name of `max_memory_reserved`."""
    _warn_renamed("max_memory_cached", "max_memory_reserved")
    return max_memory_reserved(device)


def _warn_renamed(old: str, new: str) -> None:
    warnings.warn(
        f"`torch.cuda.{old}` has been renamed to `torch.cuda.{new}`",
        FutureWarning,
        stacklevel=3,
    )


def reset_peak_memory_stats(device=None) -> None:
    """From now on the peaks of `memory_stats` count anew."""
    _C._cuda_reset_peak_stats(_index(device))


def reset_accumulated_memory_stats(device=None) -> None:
    """Sets the totals of `memory_stats` to 0: allocated, freed, num_*."""
    _C._cuda_reset_accumulated_stats(_index(device))


def reset_max_memory_allocated(device=None) -> None:
    """Deprecated: resets all peaks, see `reset_peak_memory_stats`."""
    _warn_resets_all("reset_max_memory_allocated")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device=None) -> None:
    """Deprecated: resets all peaks, see `reset_peak_memory_stats`."""
    _warn_resets_all("reset_max_memory_cached")
    reset_peak_memory_stats(device)


def _warn_resets_all(name: str) -> None:
    warnings.warn(
        f"torch.cuda.{name} now calls torch.cuda.reset_peak_memory_stats, "
        "which resets /all/ peak memory stats.",
        FutureWarning,
        stacklevel=3,
    )


def memory_snapshot(mempool_id=None, include_traces: bool = True) -> list:
    """Lists what was taken from the driver, of all devices: a list of segments
    with device, address, total_size, stream, segment_type and blocks.

    Args:
        mempool_id: must be ``None``.
        include_traces: accepted: no traces are kept.
    """
    if mempool_id is not None:
        raise NotImplementedError(
            "memory_snapshot: there are no pools to choose from; leave mempool_id out"
        )
    _lazy_init()
    return [
        segment
        for index in range(device_count())
        for segment in _C._cuda_memory_snapshot(index)
    ]


_METRICS = (
    ("allocated_bytes", "Allocated memory"),
    ("active_bytes", "Active memory"),
    ("requested_bytes", "Requested memory"),
    ("reserved_bytes", "GPU reserved memory"),
    ("allocation", "Allocations"),
    ("active", "Active allocs"),
    ("segment", "GPU reserved segments"),
)
_COLUMNS = ("current", "peak", "allocated", "freed")
_POOLS = (
    ("all", None),
    ("large_pool", "      from large pool"),
    ("small_pool", "      from small pool"),
)


def _scaled(value: int, leader: int, count: bool) -> str:
    """A number in the unit that suits the first row of its metric."""
    units, limit, step, width = (
        ((" ", "K", "M"), 750 * 1000, 1000, 7)
        if count
        else (("B  ", "KiB", "MiB", "GiB", "TiB", "PiB"), 768 << 10, 1024, 6)
    )
    unit = 0
    while unit + 1 < len(units) and leader >= limit:
        unit += 1
        value //= step
        leader /= step
    return f"{value:{width}d} {units[unit]}" + (" " if count else "")


def memory_summary(device=None, abbreviated: bool = False) -> str:
    """`memory_stats` as PyTorch's table, to be printed.

    Args:
        device: a device, by default the current one.
        abbreviated: without the lines for each pool.
    """
    index = _index(device)
    stats = memory_stats(index)
    ooms, retries = stats["num_ooms"], stats["num_alloc_retries"]
    lines = [
        "=" * 75,
        f" {'':16} PyTorch CUDA memory summary, device ID {index:<17d} ",
        "-" * 75,
        f"  {'':9} CUDA OOMs: {ooms:<12d} | {'':6} cudaMalloc retries: {retries:<8d}  ",
        "=" * 75,
        "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ",
    ]
    for metric, title in _METRICS:
        lines.append("-" * 75)
        count = not metric.endswith("_bytes")
        leaders = [stats[f"{metric}.all.{column}"] for column in _COLUMNS]
        for pool, name in _POOLS[: 1 if abbreviated else 3]:
            cells = [
                _scaled(stats[f"{metric}.{pool}.{column}"], leader, count)
                for column, leader in zip(_COLUMNS, leaders)
            ]
            lines.append(f" {name or title:<21} | " + " | ".join(cells) + " ")
    lines.append("=" * 75)
    return "".join(f"|{line}|\n" for line in lines)


def list_gpu_processes(device=None) -> str:
    """Which processes use a device and how much of it, for reading.

    Asks NVIDIA's management library through the package `pynvml`; without it
    the text says what to install.
    """
    try:
        import pynvml
    except ModuleNotFoundError:
        return "pynvml module not found, please install nvidia-ml-py"
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return "cuda driver can't be loaded, is cuda enabled?"
    index = _index(device)
    # The driver numbers the devices that it shows; NVML numbers all.
    uuid = get_device_properties(index).uuid
    handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
    processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    lines = [f"GPU:{index}"]
    if not processes:
        lines.append("no processes are running")
    for process in processes:
        used = (process.usedGpuMemory or 0) / (1 << 20)
        lines.append(f"process {process.pid:>10d} uses {used:>12.3f} MB GPU memory")
    return "\n".join(lines)


_fractions: dict[int, float] = {}


def set_per_process_memory_fraction(fraction: float, device=None) -> None:
    """Limits what this process may take of a device's memory.

    Args:
        fraction: share of all its memory, from 0 to 1. What was taken before
            stays; further tensors raise `OutOfMemoryError`.
        device: a device, by default the current one.

    Raises:
        TypeError: not a float. ValueError: not from 0 to 1.
    """
    index = _index(device)
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _C._cuda_set_memory_fraction(index, fraction)
    _fractions[index] = fraction


def get_per_process_memory_fraction(device=None) -> float:
    """Returns what `set_per_process_memory_fraction` set; 1.0 at first."""
    index = _existing(device)
    return _fractions.get(index, 1.0)


def _existing(device) -> int:
    index = _index(device)
    _C._cuda_properties(index)  # RuntimeError where there is no such device
    return index


def get_allocator_backend() -> str:
    """Always "native": hotaru's own allocator."""
    return "native"


# Memory that caching_allocator_alloc gave out, by address.
_given: dict[int, _C.Tensor] = {}


def caching_allocator_alloc(size: int, device=None, stream=None) -> int:
    """The address of ``size`` bytes on a device, for other libraries.

    Args:
        size: bytes.
        device: a device, by default the current one.
        stream: the stream, or its handle, on which they are used; by default
            the device's current one.

    Raises:
        OutOfMemoryError: not so much memory.
    """
    index = current_device() if device is None else _existing(device)
    if stream is None:
        stream = current_stream(index)
    elif isinstance(stream, int):
        stream = ExternalStream(stream, index)
    elif not isinstance(stream, _C.Stream):
        raise TypeError(
            "Invalid type for stream argument, must be `torch.cuda.Stream` or "
            "`int` representing a pointer to an existing stream"
        )
    with _stream(stream), _device(index):
        memory = _C.ops.empty([size], dtype=_C.uint8, device=f"cuda:{index}")
    address = memory.data_ptr()
    if address:
        _given[address] = memory
    return address


def caching_allocator_delete(mem_ptr: int) -> None:
    """Takes back what `caching_allocator_alloc` gave; 0 is nothing.

    Raises:
        RuntimeError: an address that was not given, or taken back already.
    """
    if mem_ptr and _given.pop(mem_ptr, None) is None:
        raise RuntimeError(f"invalid device pointer: {mem_ptr:#x}")
