"""Graphs of XPU devices, which none can be made of."""

from __future__ import annotations

from ._absent import OfDevices, needs_device

__all__ = [
    "XPUGraph",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
]


class XPUGraph(OfDevices):
    """Work of a device, to be done again."""

    def __new__(cls, keep_graph: bool = False):
        return super().__new__(cls)


class graph:  # noqa: N801
    """A block whose work is kept."""

    default_capture_stream = None

    def __init__(self, xpu_graph, pool=None, stream=None) -> None:
        needs_device()


def graph_pool_handle():
    """Raises: there is no such device."""
    needs_device()


def is_current_stream_capturing() -> bool:
    """Tells whether work is being kept: never."""
    return False


def make_graphed_callables(
    callables,
    sample_args,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool=None,
):
    """Raises: there is no such device."""
    needs_device()
