"""A module cut into parts that call one another."""

from __future__ import annotations

import inspect
import operator

from .._compatibility import compatibility
from ..graph import Graph
from ..graph_module import GraphModule, _get_attr
from ..node import Node, map_arg
from ..proxy import Proxy

__all__ = ["Partition", "split_module", "split_module_simple"]


@compatibility(is_backward_compatible=True)
class Partition:
    """The nodes of a part, what they need from others and others from them."""

    def __init__(self, name: str, affix: str | None = None) -> None:
        self.name = name
        middle = "" if affix is None else f"{affix}_"
        self.submod_name = f"submod_{middle}{name}"
        self.nodes: list[Node] = []
        self.inputs: dict[Node, None] = {}
        self.outputs: dict[Node, None] = {}
        self.dependencies: dict[str, None] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {self.nodes},\n inputs: "
            f"{list(self.inputs)},\n outputs: {list(self.outputs)},\n "
            f"partitions depended on: {list(self.dependencies)}"
        )


@compatibility(is_backward_compatible=True)
def split_module(
    m: GraphModule,
    root_m,
    split_callback,
    qualname_map: dict | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """A module with children submod_X, one for each X that the callback gives.

    Attributes and parameters stay outside and are passed to the parts.

    Args:
        m: the module.
        root_m: not read.
        split_callback: says of a node to which part it belongs.
        qualname_map: gets the paths of children, from the new ones to those in
            `m`.
        keep_original_order: parts are called in the order of their first nodes,
            which the caller has seen to be one that works; otherwise each
            behind those it needs.
        keep_original_node_name: nodes inside are called as in `m`.
        keep_original_input_name: inputs of parts are called as the values are,
            arg_0, arg_1 and so on otherwise.
        partition_affix: children are called submod_AFFIX_X.
        tuple_return: parts with one result, or none, give a tuple, too.

    RuntimeError for parts that need one another.
    """
    parts, part_of = _assign(m, split_callback, partition_affix)
    _connect(m.graph, part_of)
    base, values = Graph(), {}
    attributes: dict = {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            values[node] = _outside(base, node)
            if node.op == "get_attr":
                attributes[node.target] = _get_attr(m, node.target)
    ordered = _ordered(parts)
    for part in parts.values() if keep_original_order else ordered:
        attributes[part.submod_name] = _submodule(
            m,
            part,
            qualname_map,
            keep_original_node_name,
            keep_original_input_name,
            tuple_return,
        )
        _call(base, part, values, tuple_return)
    for node in m.graph.nodes:
        if node.op == "output":
            made = base.output(map_arg(node.args[0], values.__getitem__), node.type)
            made.meta = node.meta.copy()
    return GraphModule(attributes, base)


@compatibility(is_backward_compatible=False)
def split_module_simple(
    m: GraphModule,
    node_to_partition: dict[Node, int],
    *,
    partition_affix: str | None = None,
) -> GraphModule:
    """As `split_module`, by the number of the part that each call belongs to.

    KeyError: of a call nothing is said.
    """
    return split_module(
        m, None, node_to_partition.__getitem__, partition_affix=partition_affix
    )


def _assign(m: GraphModule, callback, affix: str | None) -> tuple[dict, dict]:
    parts: dict[str, Partition] = {}
    part_of: dict[Node, Partition] = {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        name = str(callback(node))
        part = parts.setdefault(name, Partition(name, affix))
        part.nodes.append(node)
        part_of[node] = part
    return parts, part_of


def _connect(graph: Graph, part_of: dict) -> None:
    for node in graph.nodes:
        user = part_of.get(node)
        for used in node.all_input_nodes:
            maker = part_of.get(used)
            if maker is user:
                continue
            if maker is not None:
                maker.outputs[used] = None
            if user is not None:
                user.inputs[used] = None
                if maker is not None:
                    user.dependencies[maker.name] = None


def _ordered(parts: dict) -> list[Partition]:
    """The parts, each behind those it depends on."""
    done: dict[str, Partition] = {}
    left = dict(parts)
    while left:
        ready = [
            name
            for name, part in left.items()
            if all(needed in done for needed in part.dependencies)
        ]
        if not ready:
            raise RuntimeError("cycle exists between partitions!")
        done[ready[0]] = left.pop(ready[0])
    return list(done.values())


def _outside(base: Graph, node: Node) -> Node:
    if node.op == "placeholder":
        default = node.args[0] if node.args else inspect.Signature.empty
        made = base.placeholder(node.target, node.type, default)
    else:
        made = base.get_attr(node.target, node.type)
    made.meta = node.meta.copy()
    return made


def _submodule(m, part, qualname_map, keep_names, keep_inputs, as_tuple):
    graph, values, targets = Graph(), {}, {}
    for place, used in enumerate(part.inputs):
        name = used.name if keep_inputs else f"arg_{place}"
        values[used] = graph.placeholder(name, used.type)
        values[used].meta = used.meta.copy()
    for node in part.nodes:
        target = node.target
        if node.op == "call_module":
            target = node.target.replace(".", "_")
            targets[target] = _get_attr(m, node.target)
            if qualname_map is not None:
                qualname_map[f"{part.submod_name}.{target}"] = node.target
        made = graph.create_node(
            node.op,
            target,
            map_arg(node.args, values.__getitem__),
            map_arg(node.kwargs, values.__getitem__),
            node.name if keep_names else None,
            node.type,
        )
        made.meta = node.meta.copy()
        values[node] = made
    results = tuple(values[node] for node in part.outputs)
    alone = len(results) == 1 and not as_tuple
    graph.output(results[0] if alone else results)
    return GraphModule(targets, graph)


def _call(base: Graph, part: Partition, values: dict, as_tuple: bool) -> None:
    args = tuple(values[used] for used in part.inputs)
    called = base.call_module(part.submod_name, args)
    outputs = list(part.outputs)
    if len(outputs) == 1 and not as_tuple:
        values[outputs[0]] = called
        return
    proxy = Proxy(called)
    for i, node in enumerate(outputs):
        values[node] = operator.getitem(proxy, i).node
