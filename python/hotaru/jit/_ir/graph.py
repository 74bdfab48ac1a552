"""`torch._C.Graph`: a program as nodes and values."""

# Names are PyTorch's.
# ruff: noqa: N802, N815
from __future__ import annotations

from ..._types import (
    BoolType,
    FloatType,
    IntType,
    NoneType,
    StringType,
    TensorType,
    TupleType,
)
from . import text
from .attributes import kind_of
from .nodes import Block, Node, check_kind
from .values import Value


class Graph:
    """A program: parameters, nodes in the order in which they run, results.

    `Graph()` is empty and may be changed. The graph of a compiled program
    describes it, as it was when it was asked for, and refuses changes with
    RuntimeError: nothing would come of them. Its `copy()` takes them.
    """

    __module__ = "torch._C"

    def __init__(self) -> None:
        self._count = 0
        self._read_only = False
        self._program = None  # the function that it describes
        self._owner = None  # whose graph it is, held weakly
        self._name = ""  # of which of the owner's methods
        self._top = Block(self)

    def _number(self) -> int:
        self._count += 1
        return self._count - 1

    def _changed(self) -> None:
        if self._read_only:
            raise RuntimeError(
                "the graph of a compiled program describes it and cannot be "
                "changed; change a copy() of it"
            )
        self._program = None

    def _described(self) -> None:
        """Follows changes that leave the meaning: whose graph it is shows it
        from now on.
        """
        self._program = None
        owner = self._owner() if self._owner is not None else None
        if owner is not None:
            vars(owner).setdefault("_shown_graphs", {})[self._name] = self

    def _become(self, other: Graph) -> None:
        """Takes the other's nodes, which has no use then."""
        self._count, self._top = other._count, other._top
        for block in self._blocks():
            block._graph = self

    def _rename(self, value: Value, name: str) -> None:
        taken = {other.debugName() for other in self._values() if other is not value}
        base, _, number = name.rpartition(".")
        base = base if base and number.isdigit() else name
        count = 1
        while name in taken:
            name = f"{base}.{count}"
            count += 1
        value._name = name

    def _blocks(self):
        waiting = [self._top]
        while waiting:
            block = waiting.pop()
            yield block
            for node in reversed(block._nodes):
                waiting += reversed(node._blocks)

    def _all_nodes(self):
        """Every node, a block's return behind its others."""

        def of(block):
            for node in block._nodes:
                yield node
                for inner in node._blocks:
                    yield from of(inner)
            yield block._return

        return of(self._top)

    def _values(self):
        for block in self._blocks():
            yield from block._param._outputs
            for node in block._nodes:
                yield from node._outputs

    def inputs(self):
        """The parameters."""
        return self._top.inputs()

    def outputs(self):
        """The results."""
        return self._top.outputs()

    def nodes(self):
        """The nodes, without those of blocks inside."""
        return self._top.nodes()

    def block(self) -> Block:
        """The nodes as a block."""
        return self._top

    def param_node(self) -> Node:
        """The node whose outputs are the parameters."""
        return self._top._param

    def return_node(self) -> Node:
        """The node whose inputs are the results."""
        return self._top._return

    def findNode(self, kind: str, recurse: bool = True) -> Node | None:
        """The first node of that kind, or None."""
        return self._top.findNode(kind, recurse)

    def findAllNodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """The nodes of that kind, in order; unless `recurse` is False with
        those of blocks inside.
        """
        return self._top.findAllNodes(kind, recurse)

    def str(self, print_source_ranges: bool = True) -> str:
        """The text, with files and lines of the source or without."""
        return text.graph_text(self, print_source_ranges)

    def __repr__(self) -> str:
        return text.graph_text(self)

    def alias_db(self, isFrozen: bool = False, descend_function_calls: bool = False):
        """Tells which values may share memory, as the graph is now.

        Args:
            isFrozen: accepted: attributes count as the caller's either way.
            descend_function_calls: accepted: functions count as writing to
                what they are given.
        """
        from .aliases import AliasDb

        return AliasDb(self)

    def lint(self) -> None:
        """Checks that values are made before they are taken.

        RuntimeError: one is not.
        """

        def check(block, known):
            known = known | {id(v) for v in block._param._outputs}
            for node in [*block._nodes, block._return]:
                for value in node._inputs:
                    if id(value) not in known:
                        raise RuntimeError(
                            f"%{value.debugName()} not in scope at {node}"
                        )
                for inner in node._blocks:
                    check(inner, known)
                known |= {id(v) for v in node._outputs}

        check(self._top, frozenset())

    # --- changes ---

    def copy(self) -> Graph:
        """A graph with the same text, which may be changed."""
        out = Graph()
        copy_block(self._top, out._top, Copies())
        out._program = self._program
        return out

    def create(self, kind: str, *arguments) -> Node:
        """A node that stands nowhere yet.

        Args:
            kind: "aten::add"; RuntimeError without a namespace.
            *arguments: values to take, as a list, and the number of outputs,
                1 unless given.
        """
        self._changed()
        check_kind(kind)
        inputs = next((a for a in arguments if not isinstance(a, int)), ())
        if any(value is None for value in inputs):
            raise ValueError("create: None is no value of a graph")
        count = next((a for a in arguments if isinstance(a, int)), 1)
        node = Node(self._top, kind)
        node._inputs = list(inputs)
        node._outputs = [Value(node) for _ in range(count)]
        return node

    def createClone(self, node: Node, value_map) -> Node:
        """A node like another, perhaps of another graph, that stands nowhere
        yet.

        Args:
            node: taken with its blocks.
            value_map: a function that gives the value to take for one that
                the node, or one inside of it, takes from outside.
        """
        self._changed()
        made = Node(self._top, node._kind)
        made._inputs = [value_map(value) for value in node._inputs]
        values = Outside(value_map)
        _copy_node(node, made, values)
        return made

    def appendNode(self, node: Node) -> Node:
        """Puts a node behind the others."""
        return self._top._put(node, self._top._return, 0)

    insertNode = appendNode

    def prependNode(self, node: Node) -> Node:
        """Puts a node before the others."""
        return self._top._put(node, self._top._param, 0)

    def addInput(self, name: str = "") -> Value:
        """Adds a parameter."""
        value = self._top._param.addOutput()
        if name:
            value.setDebugName(name)
        return value

    def eraseInput(self, i: int) -> None:
        """Removes a parameter. RuntimeError: it is taken."""
        self._top._param.eraseOutput(i)

    def registerOutput(self, value: Value) -> int:
        """Adds a result; gives its place."""
        return self._top.registerOutput(value)

    def eraseOutput(self, i: int) -> None:
        """Removes a result."""
        self._top._return.removeInput(i)

    def makeMultiOutputIntoTuple(self) -> None:
        """Several results become one tuple."""
        values = self._top._return._inputs
        if len(values) > 1:
            self._changed()
            node = self._top.addNode("prim::TupleConstruct", values)
            node._outputs[0]._type = TupleType([value._type for value in values])
            self._top._return._inputs = [node._outputs[0]]

    def insertConstant(self, value) -> Value:
        """Adds a constant behind the nodes; gives its value."""
        node = self.appendNode(self.create("prim::Constant", 1))
        set_constant(node, value)
        return node.output()


def set_constant(node: Node, value) -> None:
    """Gives a node of kind prim::Constant its value and its output's type."""
    types = {
        bool: BoolType,
        int: IntType,
        float: FloatType,
        str: StringType,
        type(None): NoneType,
    }
    kind = kind_of(value)
    if value is not None:
        # PyTorch has a bool as the number.
        stored = int(value) if isinstance(value, bool) else value
        node._values["value"] = (kind, stored)
    known = types.get(type(value), TensorType if kind == "t" else None)
    if known is not None:
        node._outputs[0]._type = known.get()


class Copies:
    """Copies of values, by the originals."""

    def __init__(self) -> None:
        self._known: dict[int, Value] = {}

    def all(self) -> list[Value]:
        """The copies so far."""
        return list(self._known.values())

    def of(self, value: Value) -> Value:
        return self._known[id(value)]

    def add(self, value: Value, node: Node) -> None:
        copied = Value(node, value._type, value._name)
        self._known[id(value)] = copied
        node._outputs.append(copied)


class Outside(Copies):
    """Copies of a node's own values, and what a function gives for others."""

    def __init__(self, value_map) -> None:
        super().__init__()
        self._value_map = value_map

    def of(self, value: Value) -> Value:
        return self._known.get(id(value)) or self._value_map(value)


def _copy_node(old: Node, new: Node, values: Copies) -> None:
    new._values = dict(old._values)
    new._place, new._schema = old._place, old._schema
    new._scope, new._callee = old._scope, old._callee
    for value in old._outputs:
        values.add(value, new)
    for block in old._blocks:
        inner = Block(new._block._graph, new)
        new._blocks.append(inner)
        copy_block(block, inner, values)


def copy_block(old: Block, new: Block, values: Copies) -> None:
    """Fills a block with copies of another's nodes; `values` keeps their outputs."""
    for value in old._param._outputs:
        values.add(value, new._param)
    for node in old._nodes:
        copied = Node(new, node._kind)
        copied._inputs = [values.of(v) for v in node._inputs]
        new._nodes.append(copied)
        _copy_node(node, copied, values)
    new._return._inputs = [values.of(v) for v in old._return._inputs]
