"""Programs as graphs: traced, looked at, changed, and run again.

    module = torch.fx.symbolic_trace(model)   # a GraphModule
    for node in module.graph.nodes: ...
    module.recompile()

A trace runs the program once with proxies for its inputs: what depends on
their values cannot be traced.
"""

from __future__ import annotations

from .._own_names import part
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

_MODULES = {"annotate", "experimental", "operator_schemas", "passes", "tensor_type"}


def __getattr__(name: str):
    if name == "replace_pattern":
        from .subgraph_rewriter import replace_pattern

        return replace_pattern
    return part(__name__, name, _MODULES)
