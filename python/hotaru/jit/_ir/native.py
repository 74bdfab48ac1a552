"""Graphs of compiled programs, written as PyTorch writes them.

Constants stand first and once, a `while` is a prim::Loop, and a `return`,
`break` or `continue` inside of a block has become results of it, as in PyTorch.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ... import _C
from ..._types import ClassType, EnumType, FunctionType, TupleType, Type
from .._tracing.told import told_of
from .exits import RETURN, TURN, without_exits
from .graph import Copies, Graph, copy_block, set_constant
from .nodes import Block, Node
from .text import value_text
from .type_reader import read_type
from .values import Value

_EXITS = ("break", "continue")
_CALL = "prim::CallFunction"
_ON_TOP = ("prim::Constant", "prim::Uninitialized")
_MOST_NODES = 20_000  # of a graph into which calls are put
_ENDLESS = 2**63 - 1
_NUMBERED = re.compile(r"_\d+")  # a trace's: no name of the source


class _Step(NamedTuple):
    """A node as the compiler has it."""

    kind: str
    inputs: tuple
    outputs: tuple
    extra: object
    blocks: tuple
    place: tuple | None
    schema: str | None


def graph_of(function, inlined: bool = False) -> Graph:
    """The graph of a ScriptFunction or ScriptMethod."""
    graph = _Builder(told_of(function)).graph(*function._graph(inlined))
    if inlined and graph.findNode(_CALL) is not None:
        _inline(graph, called_graphs(function))
    graph._program = function
    return graph


def _inline(graph: Graph, called: dict[int, Graph]) -> None:
    """Puts functions that the compiler leaves as calls, since they return early,
    in place of the calls; not those that call themselves.
    """
    count = sum(1 for _ in graph._all_nodes())
    waiting = [(node, frozenset()) for node in graph.findAllNodes(_CALL)]
    while waiting and count < _MOST_NODES:
        node, around = waiting.pop(0)
        callee = called.get(node._callee)
        if callee is None or node._callee in around:
            continue
        inside = Block(graph, node._block._owner)
        values = Copies()
        copy_block(callee.block(), inside, values)
        for value in values.all():
            value._name = ""
        _put_in_place(node, inside)
        count += sum(1 for _ in callee._all_nodes())
        around = around | {node._callee}
        calls = [n for n in _nodes_of(inside) if n._kind == _CALL]
        inside._nodes = []
        waiting += [(call, around) for call in calls]


def _nodes_of(block: Block):
    for node in block._nodes:
        yield node
        for inner in node._blocks:
            yield from _nodes_of(inner)


def _put_in_place(node: Node, inside: Block) -> None:
    """Puts a function's nodes in place of its call, its constants on top."""
    block, top = node._block, node._block._graph.block()
    for param, given in zip(inside._param._outputs, node._inputs[1:]):
        for each in (*_nodes_of(inside), *_returns_of(inside)):
            each._inputs = [given if v is param else v for v in each._inputs]
    constants = [n for n in inside._nodes if n._kind in _ON_TOP]
    others = [n for n in inside._nodes if n._kind not in _ON_TOP]
    for result, given in zip(node._outputs, inside._return._inputs):
        if given._type == result._type:
            given._name = given._name or result._name
        for user, i in result.uses():
            user._inputs[i] = given
    at = block._index(node)
    block._nodes[at : at + 1] = others
    top._nodes[:0] = constants
    for each in others:
        each._block = block
    for each in constants:
        each._block = top


def _returns_of(block: Block):
    yield block._return
    for node in block._nodes:
        for inner in node._blocks:
            yield from _returns_of(inner)


def _type_of(text: str) -> Type:
    try:
        return read_type(text)
    except RuntimeError:
        # A class may have any characters in its name.
        return ClassType(text)


def called_graphs(function) -> dict[int, Graph]:
    """The graphs of functions that stay calls in its inlined graph, and of
    those that they call, by the number in `_callee` of the calls' nodes.
    """
    return {
        number: _Builder().graph(*parts)
        for number, parts in function._called_graphs().items()
    }


class _Builder:
    def __init__(self, told=None) -> None:
        self._told = told
        self._graph = Graph()
        self._values: dict[int, Value] = {}
        self._constants: dict[tuple, Value] = {}
        self._hoisted: list[Node] = []
        self._counts: dict[str, int] = {}
        # A trace's constants stand where they are taken, each for itself.
        self._traced = False
        self._here = self._graph.block()
        # Conditions of the loops around: none of a `for`.
        self._loops: list[tuple | None] = []

    def graph(self, params, nodes) -> Graph:
        graph, top = self._graph, self._graph.block()
        *steps, last = (_Step(*node) for node in nodes)
        if self._told is not None and not self._told.tells(last.place):
            self._told = None  # a loaded class of the traced one's name
        for number, name, type in params:
            self._output(top._param, number, name, type, self._told)
        places = [step.place for step in steps if step.place]
        self._traced = bool(places) and places[0][0].startswith("<__torch__")
        self._steps(steps, top)
        if last.kind == "return":
            top._return._inputs = self._inputs(last)
        used = {id(v) for node in graph._all_nodes() for v in node._inputs}
        for value, (_, name, _) in zip(top._param._outputs, params):
            if id(value) not in used:
                value._name = name
        top._nodes[:0] = self._hoisted
        without_exits(graph)
        graph._read_only = True
        return graph

    # --- values ---

    def _inputs(self, step: _Step) -> list[Value]:
        return [self._values[number] for number in step.inputs]

    def _output(self, node: Node, number: int, name: str, type: str, told=None) -> None:
        value = Value(node, _type_of(type))
        if told is not None:
            value._type = told.type(name, value._type)
            name = told.names.get(name, name)
        if name == "self" and node is self._graph.param_node():
            value._name = name
        elif name and not _NUMBERED.fullmatch(name):
            count = self._counts[name] = self._counts.get(name, 0) + 1
            value._name = f"{name}.{count}"
        node._outputs.append(value)
        self._values[number] = value

    def _constant(self, value, type: str, place=None) -> Value:
        # Values that print alike are alike, but for what is shared: tensors.
        shared = isinstance(value, (_C.Tensor, list, dict))
        text = id(value) if shared else value_text(value)
        plain = value is None or isinstance(value, (bool, int, float, str))
        key = (value.__class__, text, "" if plain else type)
        if key in self._constants and not self._traced:
            return self._constants[key]
        node = self._constant_node(key, _type_of(type))
        set_constant(node, value)
        node._place = place
        return node._outputs[0]

    def _constant_node(self, key: tuple, type: Type) -> Node:
        block = self._here if self._traced else self._graph.block()
        node = Node(block, "prim::Constant")
        node._outputs.append(Value(node, type))
        self._constants[key] = node._outputs[0]
        if self._traced:
            block._nodes.append(node)
        else:
            self._hoisted.append(node)
        return node

    def _function(self, name: str) -> Value:
        key = ("function", name)
        if key not in self._constants or self._traced:
            node = self._constant_node(key, FunctionType.get())
            node._values["name"] = ("s", name)
        return self._constants[key]

    # --- nodes ---

    def _add(self, block: Block, kind: str, step: _Step) -> Node:
        node = Node(block, kind)
        node._inputs = self._inputs(step)
        node._place = step.place
        if step.schema is not None:
            space = "" if "::" in step.schema.partition("(")[0] else kind
            prefix = f"{space.partition('::')[0]}::" if space else ""
            node._schema = prefix + step.schema
        told = self._told
        if told is not None and not told.tells(step.place):
            told = None
        names = [name for _, name, _ in step.outputs]
        if told is not None and len(names) > 1 and not any(names):
            names = told.names_at(step.place, len(names))
        for (number, _, type), name in zip(step.outputs, names):
            self._output(node, number, name, type, told)
        if told is not None and kind == "prim::TupleConstruct":
            node._outputs[0]._type = TupleType([v._type for v in node._inputs])
        elif told is not None and kind == "prim::TupleIndex":
            node._outputs[0]._type = node._inputs[0]._type.elements()[step.extra]
        block._nodes.append(node)
        return node

    def _steps(self, steps, block: Block) -> None:
        outside, self._here = self._here, block
        for step in steps:
            self._step(step, block)
        self._here = outside

    def _step(self, step: _Step, block: Block) -> None:
        if step.kind == "prim::Constant":
            ((number, _, type),) = step.outputs
            self._values[number] = self._constant(step.extra, type, step.place)
        elif step.kind == "prim::Loop":
            self._loop(step, block)
        elif step.kind == "prim::While":
            self._while(step, block)
        elif step.kind == "unreachable":
            pass
        elif step.kind in _EXITS:
            self._exit(step, block)
        else:
            self._plain(step, block)

    def _plain(self, step: _Step, block: Block) -> None:
        function = None
        if step.kind == "prim::CallFunction":
            function = self._function(step.extra[0])
        elif step.kind == "prim::TupleIndex":
            function = self._constant(step.extra, "int")
        kind = RETURN if step.kind == "return" else step.kind
        node = self._add(block, kind, step)
        if step.kind in ("prim::GetAttr", "prim::SetAttr"):
            if isinstance(node._inputs[0].type(), EnumType):
                node._kind = f"prim::Enum{step.extra.capitalize()}"
            else:
                node._values["name"] = ("s", step.extra)
        elif step.kind == "prim::TupleIndex":
            node._inputs.append(function)
        elif step.kind == "prim::CallFunction":
            node._inputs.insert(0, function)
            node._callee = step.extra[2]
        elif step.kind == "prim::CallMethod":
            if not isinstance(step.extra, str):
                node._callee = step.extra[2]
            name = step.extra if isinstance(step.extra, str) else step.extra[0]
            node._values["name"] = ("s", name)
        elif step.kind == "prim::fork":
            node._values["name"] = ("s", step.extra[0])
        elif step.kind == "prim::isinstance":
            node._values["types"] = ("tys", [_type_of(t) for t in step.extra])
        for params, nodes in step.blocks:
            inner = Block(self._graph, node)
            node._blocks.append(inner)
            self._inner(inner, params, nodes)

    def _inner(self, block: Block, params, nodes) -> None:
        """A branch: what it yields, or nothing if it leaves."""
        for number, name, type in params:
            self._output(block._param, number, name, type)
        *steps, last = (_Step(*node) for node in nodes)
        self._steps(steps, block)
        if last.kind == "->":
            block._return._inputs = self._inputs(last)
        else:
            self._step(last, block)

    def _exit(self, step: _Step, block: Block) -> None:
        """A loop's next turn, if there is one, from inside of a block."""
        loop, states = self._loops[-1], self._inputs(step)
        if step.kind == "break":
            again = self._constant(False, "bool")
        elif loop is None:
            again = self._constant(True, "bool")
        else:
            again = self._condition(block, *loop, states)
        node = self._add(block, TURN, step)
        node._inputs.insert(0, again)

    def _loop(self, step: _Step, block: Block) -> None:
        """For: the condition is always true."""
        node = self._add(block, "prim::Loop", step)
        goes_on = self._constant(True, "bool")
        node._inputs.insert(1, goes_on)
        inner = Block(self._graph, node)
        node._blocks.append(inner)
        ((params, nodes),) = step.blocks
        for number, name, type in params:
            self._output(inner._param, number, name, type)
        *steps, last = (_Step(*n) for n in nodes)
        self._loops.append(None)
        self._steps(steps, inner)
        if last.kind == "continue":
            inner._return._inputs = [goes_on, *self._inputs(last)]
        else:
            self._step(last, inner)
        self._loops.pop()

    def _condition(self, block: Block, params, nodes, values) -> Value:
        """The condition's nodes once more, of these values."""
        for (number, _, _), value in zip(params, values):
            self._values[number] = value
        *steps, last = (_Step(*n) for n in nodes)
        self._steps(steps, block)
        return self._values[last.inputs[0]]

    def _while(self, step: _Step, block: Block) -> None:
        (params, nodes), (body_params, body) = step.blocks
        first = self._condition(block, params, nodes, self._inputs(step))
        node = self._add(block, "prim::Loop", step)
        node._inputs[:0] = [self._constant(_ENDLESS, "int"), first]
        inner = Block(self._graph, node)
        node._blocks.append(inner)
        inner._param._outputs.append(Value(inner._param, read_type("int")))
        for number, name, type in body_params:
            self._output(inner._param, number, name, type)
        *steps, last = (_Step(*n) for n in body)
        self._loops.append((params, nodes))
        self._steps(steps, inner)
        if last.kind == "continue":
            values = self._inputs(last)
            again = self._condition(inner, params, nodes, values)
            inner._return._inputs = [again, *values]
        else:
            self._step(last, inner)
        self._loops.pop()
