"""Graphs: capture the calls of a program once, replay them without Python.

g = hotaru.cpu.Graph()
with hotaru.cpu.graph(g):
    y = model(x)           # recorded, not run
x.copy_(batch)             # new values in the same memory
g.replay()                 # y has its values now
"""

from __future__ import annotations

from .._C import GraphPool, is_current_stream_capturing
from ._callables import make_graphed_callables
from ._compile import compile
from ._graph import CUDAGraph, Graph, graph, graph_pool_handle, passes
from ._hooks import (
    export_dot,
    register_graph_capture_end_hook,
    register_graph_capture_start_hook,
    register_graph_destroy_hook,
    register_graph_instantiate_hook,
    register_graph_replay_end_hook,
    register_graph_replay_start_hook,
)

__all__ = [
    "CUDAGraph",
    "Graph",
    "GraphPool",
    "compile",
    "export_dot",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
    "passes",
    "register_graph_capture_end_hook",
    "register_graph_capture_start_hook",
    "register_graph_destroy_hook",
    "register_graph_instantiate_hook",
    "register_graph_replay_end_hook",
    "register_graph_replay_start_hook",
]
