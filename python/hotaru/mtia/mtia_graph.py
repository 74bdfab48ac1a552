"""Graphs of MTIA devices, which none can be made of."""

from __future__ import annotations

from ._absent import needs_device

__all__ = ["MTIAGraph", "graph", "graph_pool_handle"]


class MTIAGraph:
    """Work of a device, to be done again."""

    def __init__(self, keep_graph: bool = False) -> None:
        needs_device("mtiagraphCreate")


class graph:  # noqa: N801
    """A block whose work is kept."""

    default_capture_stream = None

    def __init__(self, mtia_graph, pool=None, stream=None) -> None:
        needs_device("getCurrentDevice")


def graph_pool_handle():
    """Raises: there is no such device."""
    needs_device("graphPoolHandle")
