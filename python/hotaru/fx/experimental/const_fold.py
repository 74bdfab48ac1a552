"""Calls that depend on no input, run once and before all others."""

from __future__ import annotations

from ... import Tensor, nn
from .._symbolic_trace import symbolic_trace
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg

__all__ = [
    "FoldedGraphModule",
    "get_unique_attr_name_in_module",
    "split_const_subgraphs",
]


class FoldedGraphModule(GraphModule):
    """A module that runs its constant part, `const_subgraph_module`, at its
    first call and keeps the results as parameters.
    """

    def __init__(
        self,
        root,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        self.const_subgraph_module = None
        if const_subgraph is not None:
            self.const_subgraph_module = GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args, **kwargs):
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self) -> None:
        """Runs the constant part; AssertionError the second time."""
        if (
            self.const_subgraph_module is None
            or self.fx_const_folded_attrs_name is None
        ):
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        results = self.const_subgraph_module()
        several = isinstance(results, tuple)
        made = [
            _parameter(r, self.device_for_folded_attrs)
            for r in (results if several else (results,))
        ]
        kept = nn.ParameterList(made) if several else made[0]
        setattr(self, self.fx_const_folded_attrs_name, kept)


def _parameter(value, device: str) -> nn.Parameter:
    if not isinstance(value, Tensor):
        raise AssertionError(f"Expected a Tensor, got {type(value)}")
    value = value.to(device) if value.device.type != device else value
    return nn.Parameter(value.detach(), requires_grad=value.requires_grad)


def get_unique_attr_name_in_module(mod_traced, name: str) -> str:
    """The name, with a number behind it where the module has it already."""
    base, number = name, 0
    while hasattr(mod_traced, name):
        number += 1
        name = f"{base}_{number}"
    return name


def split_const_subgraphs(
    module, skip_folding_node_fn=None, device_for_folded_attrs: str = "cpu"
) -> FoldedGraphModule:
    """The module with the calls folded that depend on no input.

    Those for which `skip_folding_node_fn` is true stay.
    """
    traced = module
    if not isinstance(module, GraphModule):
        traced = symbolic_trace(module)
    constant = _constant_nodes(traced.graph, skip_folding_node_fn)
    folded = [
        node
        for node in traced.graph.nodes
        if node in constant
        and node.op != "get_attr"
        and any(user not in constant for user in node.users)
    ]
    if not folded:
        return FoldedGraphModule(traced, traced.graph)
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    before = _constant_graph(traced.graph, constant, folded)
    _put_placeholder(traced, name, len(folded))
    graph = _rest(traced.graph, constant, folded, name)
    return FoldedGraphModule(traced, graph, before, name, device_for_folded_attrs)


def _constant_nodes(graph: Graph, skip) -> set[Node]:
    found: set[Node] = set()
    for node in graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if not found.issuperset(node.all_input_nodes):
            continue
        if node.op != "get_attr" and skip is not None and skip(node):
            continue
        if not node.is_impure():
            found.add(node)
    return found


def _constant_graph(graph: Graph, constant: set, folded: list) -> Graph:
    made, values = Graph(), {}
    for node in graph.nodes:
        if node in constant:
            values[node] = made.node_copy(node, values.__getitem__)
    results = tuple(values[node] for node in folded)
    made.output(results if len(results) > 1 else results[0])
    made.eliminate_dead_code()
    return made


def _put_placeholder(traced, name: str, count: int) -> None:
    """The attribute that nodes refer to before its values are known."""
    import hotaru

    kept = nn.ParameterList() if count > 1 else nn.Parameter(hotaru.empty(0))
    setattr(traced, name, kept)


def _rest(graph: Graph, constant: set, folded: list, name: str) -> Graph:
    """The graph that takes the folded values from an attribute."""
    made, values = Graph(), {}
    wanted = {
        node: None
        for node in graph.nodes
        if node not in constant
        or (node.op == "get_attr" and any(user not in constant for user in node.users))
    }
    attribute = None
    for node in graph.nodes:
        if node.op == "placeholder":
            values[node] = made.node_copy(node)
    for node in wanted:
        if node.op == "get_attr":
            values[node] = made.node_copy(node)
    attribute = made.get_attr(name)
    metas = [node.meta.get("tensor_meta") for node in folded]
    if len(folded) == 1:
        attribute.meta = dict(folded[0].meta)
        values[folded[0]] = attribute
    else:
        attribute.meta["tensor_meta"] = metas
        for i, node in enumerate(folded):
            values[node] = _item(made, attribute, i)
            values[node].meta = dict(node.meta)
    for node in wanted:
        if node.op == "output":
            result = made.output(map_arg(node.args[0], values.__getitem__), node.type)
            result.meta = dict(node.meta)
        elif node not in values:
            values[node] = made.node_copy(node, values.__getitem__)
    return made


def _item(graph: Graph, node: Node, index: int) -> Node:
    import operator

    return graph.call_function(operator.getitem, (node, index))
