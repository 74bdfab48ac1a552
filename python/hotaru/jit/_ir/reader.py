"""Graphs from their text: `torch._C.parse_ir`."""

from __future__ import annotations

import re

import hotaru

from .attributes import kind_of
from .graph import Graph
from .nodes import Block, Node
from .schemas import schema_for
from .tokens import Tokens
from .type_reader import type_at
from .values import Value


def parse_ir(input: str, parse_tensor_constants: bool = False) -> Graph:
    """The graph of that text, which may be changed.

    Args:
        input: as a graph prints itself; comments are passed over, and a
            value without a type is a tensor.
        parse_tensor_constants: whether `{1}` may stand for a tensor.

    Raises:
        RuntimeError: the text is no graph's; it shows where.
    """
    return _Reader(input, parse_tensor_constants).graph()


def parse_named(text: str) -> tuple[Graph, dict]:
    """The same, and its values by the names that the text has for them."""
    reader = _Reader(text, False)
    return reader.graph(), reader._known


class _Reader:
    def __init__(self, source: str, tensors: bool) -> None:
        self._tokens = Tokens(source)
        self._tensors = tensors
        self._graph = Graph()
        self._known: dict[str, Value] = {}

    def graph(self) -> Graph:
        tokens = self._tokens
        if not tokens.accept("graph"):
            tokens.fail("expected 'graph'")
        top = self._graph.block()
        self._params(top)
        while not tokens.accept("return"):
            self._node(top)
        tokens.expect("(")
        top._return._inputs = tokens.several(")", self._use)
        return self._graph

    def _use(self) -> Value:
        tokens = self._tokens
        name = tokens.take("var")[1:]
        if name not in self._known:
            tokens.fail(f"\nCannot find a variable with name '{name}'")
        return self._known[name]

    def _define(self, node: Node, keep_name: bool) -> None:
        tokens = self._tokens
        name = tokens.take("var")[1:]
        type = type_at(tokens) if tokens.accept(":") else None
        value = Value(node, type)
        if keep_name and not name.isdigit():
            value._name = name
        self._known[name] = value
        node._outputs.append(value)

    def _params(self, block: Block) -> None:
        tokens = self._tokens
        tokens.expect("(")
        tokens.several(")", lambda: self._define(block._param, True))
        tokens.expect(":")

    def _node(self, block: Block) -> None:
        tokens = self._tokens
        node = Node(block, "")
        outputs = Node(block, "")  # until the inputs are read
        if tokens.kind() == "var":
            before = dict(self._known)
            self._define(outputs, False)
            while tokens.accept(","):
                self._define(outputs, False)
            made, self._known = self._known, before
        else:
            made = None
        if made is not None or tokens.sees("="):
            tokens.expect("=")
        node._place = tokens.place()
        node._kind = tokens.take("name")
        if "::" not in node._kind:
            tokens.fail(f"'{node._kind}' is no kind of node")
        if tokens.accept("["):
            tokens.several("]", lambda: self._attribute(node))
        tokens.expect("(")
        node._inputs = tokens.several(")", self._use)
        block._nodes.append(node)
        while tokens.sees(f"block{len(node._blocks)}"):
            self._block(node)
        for value in outputs._outputs:
            value._node = node
        node._outputs = outputs._outputs
        if made is not None:
            self._known = {**self._known, **made}
        self._shape_tensors(node)
        node._schema = schema_for(node)

    @staticmethod
    def _shape_tensors(node: Node) -> None:
        """A tensor of one element has the dtype and dimensions of its type."""
        kind, value = node._values.get("value", ("", None))
        if kind != "t" or len(node._outputs) != 1:
            return
        type = node._outputs[0]._type
        dtype, dims = type.dtype(), type.dim() or 0
        value = value if dtype is None else value.to(dtype)
        node._values["value"] = kind, value.reshape((1,) * dims)

    def _block(self, node: Node) -> None:
        tokens = self._tokens
        tokens.take()
        block = node.addBlock()
        outside = dict(self._known)
        self._params(block)
        while not tokens.accept("->"):
            self._node(block)
        tokens.expect("(")
        block._return._inputs = tokens.several(")", self._use)
        self._known = outside

    def _attribute(self, node: Node) -> None:
        name = self._tokens.take("name")
        self._tokens.expect("=")
        value = self._value()
        node._values[name] = (kind_of(value), value)

    def _value(self):
        tokens = self._tokens
        if tokens.kind() == "number":
            word = tokens.take()
            real = any(c in word for c in ".e")
            return float(word) if real else int(word)
        if tokens.kind() == "string":
            return _unescaped(tokens.take()[1:-1])
        if tokens.accept("["):
            return tokens.several("]", self._value)
        if tokens.sees("{", "<"):
            return self._tensor()
        word = tokens.take("name")
        if word == "annotate":  # the type is the output's own
            tokens.expect("(")
            type_at(tokens)
            tokens.expect(",")
            value = self._value()
            tokens.expect(")")
            return value
        constants = {"inf": float("inf"), "nan": float("nan")}
        constants.update({"True": True, "False": False, "None": None})
        if word not in constants:
            tokens._next -= 1
            tokens.fail(f"'{word}' is no value of an attribute")
        return constants[word]

    def _tensor(self):
        tokens = self._tokens
        if tokens.sees("<"):
            tokens.fail("the text does not say what tensor it is")
        if not self._tensors:
            tokens.fail(
                "Single-element tensor constant encountered but "
                "`parse_tensor_constants` is set to false"
            )
        tokens.expect("{")
        value = self._value()
        tokens.expect("}")
        return hotaru.tensor(value)


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[1]), text)
