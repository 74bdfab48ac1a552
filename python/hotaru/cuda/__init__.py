"""CUDA devices. This build has no CUDA back end: asking is fine, using is an
error that says so. Graphs are those of the CPU: they work on its streams.
"""

from __future__ import annotations

from .. import _C
from .._streams import StreamContext, stream
from ..graphs import Graph as CUDAGraph
from ..graphs import (
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
)
from . import profiler

__all__ = [
    "CUDAGraph",
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "graph",
    "graph_pool_handle",
    "is_available",
    "is_current_stream_capturing",
    "is_initialized",
    "make_graphed_callables",
    "manual_seed",
    "manual_seed_all",
    "profiler",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """Whether a CUDA device can be used."""
    return device_count() > 0


def device_count() -> int:
    """Number of CUDA devices."""
    return _C._device_count("cuda")


def is_initialized() -> bool:
    return False


def _lazy_init() -> None:
    if not is_available():
        raise AssertionError("Torch not compiled with CUDA enabled")


def current_device() -> int:
    """Index of the current device; AssertionError without a CUDA back end."""
    _lazy_init()
    return 0


def synchronize(device=None) -> None:
    """Waits for the device; AssertionError without a CUDA back end."""
    _lazy_init()


def current_stream(device=None):
    """The current CUDA stream; AssertionError without a CUDA back end."""
    _lazy_init()


class Stream(_C.Stream):
    """A CUDA stream; AssertionError without a CUDA back end."""

    def __init__(self, device=None, priority: int = 0, **kwargs) -> None:
        super().__init__("cuda" if device is None else device, priority)


class Event(_C.Event):
    """A CUDA event; AssertionError without a CUDA back end."""

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        super().__init__("cuda", enable_timing=enable_timing)


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator, if there is one."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Gives unused memory back, if there is any."""


def get_device_name(device=None) -> str:
    _lazy_init()
    return ""


class device:  # noqa: N801
    """Makes a CUDA device current; -1 and None change nothing."""

    def __init__(self, device) -> None:
        self.idx = -1 if device is None else device

    def __enter__(self) -> None:
        if self.idx != -1:
            _lazy_init()

    def __exit__(self, *error) -> None:
        return None
