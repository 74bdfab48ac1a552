"""Programs that compute the sizes of a graph's tensors from those of its
parameters: the graph itself, of tensors without memory.
"""

from __future__ import annotations

import hotaru

from ..._types import IntType, ListType, TensorType
from .._ir.graph import Copies, Graph, copy_block, set_constant
from .._ir.nodes import Node
from .._ir.values import Value
from .clean import unneeded
from .facts import Facts
from .rewriting import remove, rewriting

__all__ = ["ShapeCompute", "with_compute"]

_FIRST = ("prim::Constant", "prim::ListConstruct", "prim::TupleConstruct")


class ShapeCompute:
    """A program of sizes, and which symbols its results are."""

    def __init__(self, graph: Graph, symbols: dict[Value, int]) -> None:
        self._graph, self._symbols = graph, symbols

    def partial_eval_shape_graph(self) -> Graph:
        """Takes the sizes of each parameter that is a tensor, as a list; gives
        a number for each symbol.
        """
        return self._graph

    def graph_output_to_symbolic_shape_dim(self) -> dict[Value, int]:
        """The symbols of the results."""
        return self._symbols


def with_compute(graph) -> ShapeCompute | None:
    """Carries sizes through a graph, and gives the program of those that are
    not known. None: the graph has more than operators.

    The same operator gives the same symbols for the same sizes.
    """
    with rewriting(graph):
        Facts(graph, ("sizes",), joined=True)
    values = [v for v in graph.inputs() if isinstance(v.type(), TensorType)]
    if any(not _is_operator(node) for node in graph._all_nodes()):
        return None
    made = Graph()
    copies = Copies()
    copy_block(graph.block(), made.block(), copies)
    _without_memory(made)
    for value in values:
        _from_sizes(made, copies.of(value))
    top = made.block()
    symbols: dict[int, tuple[Value, int]] = {}
    for value in _tensors(graph):
        for dim, number in enumerate(value.type().symbolic_sizes()):
            if number < 0:
                symbols.setdefault(number, (copies.of(value), dim))
    top._return._inputs = []
    found: dict[Value, int] = {}
    for number, (value, dim) in symbols.items():
        out = _size(made, value, dim)
        top._return._inputs.append(out)
        found[out] = number
    for value in list(top._param._outputs):
        if not isinstance(value.type(), ListType) and not value.uses():
            top._param._outputs.remove(value)
    unneeded(made)
    return ShapeCompute(made, found)


def _is_operator(node: Node) -> bool:
    kind = node.kind()
    return kind.startswith("aten::") or kind in (*_FIRST, "prim::Return")


def _tensors(graph):
    for value in graph._values():
        if isinstance(value.type(), TensorType) and value.type().dim() is not None:
            yield value


def _without_memory(graph: Graph) -> None:
    """Constants that are tensors lose their numbers."""
    for node in graph._all_nodes():
        for name, (kind, value) in list(node._values.items()):
            if isinstance(value, hotaru.Tensor):
                node._values[name] = (kind, value.to("meta"))
    for value in graph._values():
        if isinstance(value._type, TensorType):
            value._type = TensorType.get()


def _constant(graph: Graph, value, at: int) -> Value:
    node = Node(graph.block(), "prim::Constant")
    node._outputs.append(Value(node))
    set_constant(node, value)
    graph.block()._nodes.insert(at, node)
    return node._outputs[0]


def _from_sizes(graph: Graph, value: Value) -> None:
    """The parameter is a list of sizes; a tensor of these stands for it."""
    block = graph.block()
    params = block._param._outputs
    i = next(i for i, param in enumerate(params) if param is value)
    sizes = Value(block._param, ListType(IntType.get()), value._name)
    params[i] = sizes
    given = [None, None, hotaru.device("meta"), None, None]
    inputs = [_constant(graph, each, at) for at, each in enumerate(given)]
    node = Node(block, "aten::empty")
    node._schema = _EMPTY
    node._inputs = [sizes, *inputs]
    value._node, value._name = node, ""
    node._outputs = [value]
    block._nodes.insert(len(given), node)


_EMPTY = (
    "aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
    "memory_format=None) -> Tensor"
)


def _size(graph: Graph, value: Value, dim: int) -> Value:
    block = graph.block()
    place = _constant(graph, dim, len(block._nodes))
    node = Node(block, "aten::size")
    node._inputs = [value, place]
    node._outputs.append(Value(node, IntType.get()))
    block._nodes.append(node)
    return node._outputs[0]


def lowered_tuples(graph) -> None:
    """Parameters and results that are tuples become those that they hold."""
    from .idioms import Idioms

    with rewriting(graph):
        block = graph.block()
        for value in list(block._param._outputs):
            if hasattr(value.type(), "elements"):
                _spread(block, value)
        while any(_is_tuple(value) for value in block._return._inputs):
            given = []
            for value in block._return._inputs:
                given += value.node()._inputs if _is_tuple(value) else [value]
            block._return._inputs = given
        while Idioms(graph).run():
            unneeded(graph)
        for node in list(block._nodes):
            if node.kind() == "prim::TupleConstruct" and not node.hasUses():
                remove(node)


def _is_tuple(value: Value) -> bool:
    return value.node().kind() == "prim::TupleConstruct"


def _spread(block, value: Value) -> None:
    """Parameters in place of a tuple, of which it is made."""
    params = block._param._outputs
    i = next(i for i, param in enumerate(params) if param is value)
    parts = [Value(block._param, type) for type in value.type().elements()]
    params[i : i + 1] = parts
    node = Node(block, "prim::TupleConstruct")
    node._inputs = list(parts)
    value._node, value._name = node, ""
    node._outputs = [value]
    block._nodes.insert(0, node)
    for part in parts:
        if hasattr(part.type(), "elements"):
            _spread(block, part)
