"""The CPU as a device, with streams that are real queues.

    stream = hotaru.cpu.Stream()
    with hotaru.cpu.stream(stream):
        y = x @ w          # returns at once, runs on the pool
    print(y)               # waits for what y needs

Work on one stream runs in order, work on different streams side by side. An
operator that touches a tensor in use on another stream waits for that use, and
so does whatever reads values: ``print``, ``item()``, ``numpy()``. An error in
queued work is raised at the next synchronisation of its stream and by whoever
reads what it should have computed.
"""

from __future__ import annotations

from .. import _C
from .._C import Event, Stream
from .._extension.streams import StreamContext, stream
from .._late import lent
from .._own_names import part
from ._capabilities import get_capabilities

__all__ = [
    "Event",
    "Graph",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_capabilities",
    "graph",
    "graph_pool_handle",
    "is_available",
    "is_current_stream_capturing",
    "is_initialized",
    "make_graphed_callables",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "ordered_calls",
    "reset_peak_memory_stats",
    "set_device",
    "set_ordered_calls",
    "stream",
    "synchronize",
]

_GRAPHS = {
    "Graph",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
}


def __getattr__(name: str):
    if name in _GRAPHS:
        return getattr(lent("graphs"), name)
    return part(__name__, name, ("amp",))


def is_initialized() -> bool:
    """True: the CPU needs no start."""
    return True


def is_available() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """Its name, "cpu", as in PyTorch."""
    return "cpu"


def set_device(device) -> None:
    """Changes nothing: there is one CPU."""


def current_stream(device=None) -> Stream:
    """The stream that this thread's operators go to.

    Its ``stream_id`` is 0 for the one that runs them at once, in the caller.
    """
    _check(device)
    return _C._current_stream()


def synchronize(device=None) -> None:
    """Waits for every queued stream of the process.

    Args:
        device: ``None``, 0 or a CPU device; ValueError for others.

    Raises:
        The first error of queued work that was not raised yet.
    """
    _check(device)
    _C._synchronize()


def ordered_calls() -> bool:
    """True if calls are admitted in order of arrival; see set_ordered_calls."""
    return _C._ordered_calls()


def set_ordered_calls(ordered: bool) -> None:
    """Sets whether whole calls of many threads take turns, in order of arrival.

    On at first, unless the environment has ``HOTARU_ADMISSION=off``. A call is
    a run of a TorchScript program or a replay of a graph of some size. With
    more calling threads than cores, as many run as there are cores; the others
    sleep until it is their turn, so that none waits for time slices of the
    system. A call that waits for something gives its place up meanwhile, and
    threads whose calls usually take less than 50 us need no place.
    """
    _C._set_ordered_calls(bool(ordered))


def memory_allocated(device=None) -> int:
    """Bytes that tensors of more than 1 KiB have now, as they were asked for.

    Memory that tensors borrow (numpy arrays, files, other processes) does not
    count.
    """
    _check(device)
    return _C._cpu_memory_allocated()


def max_memory_allocated(device=None) -> int:
    """The most that memory_allocated() was, see reset_peak_memory_stats()."""
    _check(device)
    return _C._cpu_memory_peak()


def reset_peak_memory_stats(device=None) -> None:
    """From now on max_memory_allocated() counts anew."""
    _check(device)
    _C._cpu_memory_reset_peak()


def memory_reserved(device=None) -> int:
    """Bytes in use and those kept for the next tensors."""
    _check(device)
    return _C._cpu_memory_allocated() + _C._cpu_memory_kept()


def empty_cache() -> None:
    """Gives memory that is kept for the next tensors back to the system."""
    _C._cpu_memory_clear()


def _check(device) -> None:
    if device is None or (isinstance(device, int) and device == 0):
        return
    if isinstance(device, int):
        raise ValueError(f"cpu: there is no device {device}, only device 0")
    device = _C.device(device)
    if device.type != "cpu":
        raise ValueError(f"Expected a cpu device, but got: {device}")
