"""Nodes and blocks of graphs.

Threads may read one graph at once. What changes a graph raises RuntimeError
where the graph describes a compiled program: a `copy()` may be changed.
"""

# Names are PyTorch's.
# ruff: noqa: N802
from __future__ import annotations

from ..._function_schema import parse_schema
from . import text
from .attributes import Attributes
from .values import Value


def check_kind(kind: str) -> None:
    if "::" not in kind:
        raise RuntimeError(
            "all symbols must have a namespace, <namespace>::<string>, "
            f"but found: {kind}"
        )


class Node(Attributes):
    """One step of a program: `outputs = kind[attributes](inputs)`."""

    __module__ = "torch._C"

    def __init__(self, block: Block, kind: str) -> None:
        super().__init__()
        self._block = block
        self._kind = kind
        self._inputs: list[Value] = []
        self._outputs: list[Value] = []
        self._blocks: list[Block] = []
        self._place: tuple | None = None  # file, line, column, excerpt
        self._schema: str | None = None
        self._scope = ""
        self._gone = False  # taken out by a pass
        self._callee = 0  # which function a prim::CallFunction or CallMethod calls

    def _changed(self) -> None:
        self._block._graph._changed()

    def kind(self) -> str:
        """Its operator or the like: "aten::add"."""
        return self._kind

    def inputs(self):
        """Inputs that it takes, in order."""
        return iter(list(self._inputs))

    def outputs(self):
        """Outputs that it makes, in order."""
        return iter(list(self._outputs))

    def inputsSize(self) -> int:
        """How many inputs it has."""
        return len(self._inputs)

    def outputsSize(self) -> int:
        """How many outputs it has."""
        return len(self._outputs)

    def inputsAt(self, i: int) -> Value:
        """Input i. IndexError: there is none."""
        return self._inputs[i]

    def outputsAt(self, i: int) -> Value:
        """Output i. IndexError: there is none."""
        return self._outputs[i]

    def input(self) -> Value:
        """The one input. RuntimeError: there is not just one."""
        return self._single(self._inputs, "input")

    def output(self) -> Value:
        """The one output. RuntimeError: there is not just one."""
        return self._single(self._outputs, "output")

    def _single(self, values, what: str) -> Value:
        if len(values) != 1:
            raise RuntimeError(
                f"Tried to access a single {what} on node '{self._kind}' which "
                f"has {len(values)} {what}s. "
                f"You may consider using node.{what}s() instead."
            )
        return values[0]

    def namedInput(self, name: str) -> Value:
        """The input for the schema's argument. RuntimeError: there is none."""
        if self._schema is None:
            raise RuntimeError(f"Schema not found for node: {self}")
        names = [argument.name for argument in parse_schema(self._schema).arguments]
        if name not in names:
            raise RuntimeError(f"'{self._kind}' has no argument '{name}'")
        return self._inputs[names.index(name)]

    def hasMultipleOutputs(self) -> bool:
        """True if it has more outputs than one."""
        return len(self._outputs) > 1

    def hasUses(self) -> bool:
        """True if any output is taken."""
        return any(out.uses() for out in self._outputs)

    def blocks(self):
        """The blocks inside: branches of a prim::If, body of a loop."""
        return iter(list(self._blocks))

    def owningBlock(self) -> Block:
        """The block that it stands in."""
        return self._block

    def prev(self) -> Node:
        """The node before it; before the first the block's prim::Param."""
        at = self._block._index(self)
        return self._block._nodes[at - 1] if at else self._block._param

    def next(self) -> Node:
        """The node after it; after the last the block's prim::Return."""
        at = self._block._index(self) + 1
        nodes = self._block._nodes
        return nodes[at] if at < len(nodes) else self._block._return

    def isAfter(self, other: Node) -> bool:
        """True if it stands behind the other in the graph's text."""
        order = self._block._graph._all_nodes()
        first = next((n for n in order if n is self or n is other), self)
        return first is other and self is not other

    def isBefore(self, other: Node) -> bool:
        """True if it stands before the other in the graph's text."""
        return self is not other and not self.isAfter(other)

    def matches(self, signature: str) -> bool:
        """True if it calls the operator of that schema."""
        space = self._kind.partition("::")[0]
        wanted = signature.replace(" ", "")
        return (self._schema or "").replace(" ", "") in (wanted, f"{space}::{wanted}")

    def schema(self) -> str:
        """The operator's signature, "(no schema)" for other nodes."""
        return self._schema or "(no schema)"

    def isNondeterministic(self) -> bool:
        """True if it draws random numbers."""
        from .aliases import is_random

        return is_random(self)

    def scopeName(self) -> str:
        """The names of the modules that it is of, if known."""
        return self._scope

    def sourceRange(self) -> str:
        """The source's lines, with marks below what the node is made of."""
        return self._place[3] if self._place else ""

    def findNode(self, kind: str, recurse: bool = True) -> Node | None:
        """The first node of that kind in its blocks, or None."""
        return next(iter(self.findAllNodes(kind, recurse)), None)

    def findAllNodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """The nodes of that kind in its blocks."""
        return [
            node for block in self._blocks for node in block.findAllNodes(kind, recurse)
        ]

    def mustBeNone(self) -> bool:
        """True if it is the constant None."""
        return self._kind == "prim::Constant" and not self.hasAttributes()

    # --- changes ---

    def addInput(self, value: Value) -> Value:
        """Adds an input behind the others."""
        self._changed()
        self._inputs.append(value)
        return value

    def replaceInput(self, i: int, value: Value) -> Value:
        """Puts another value in place of input i; gives the old one."""
        self._changed()
        old, self._inputs[i] = self._inputs[i], value
        return old

    def replaceInputWith(self, old: Value, new: Value) -> None:
        """Puts another value wherever it takes `old`."""
        self._changed()
        self._inputs = [new if v is old else v for v in self._inputs]

    def removeInput(self, i: int) -> None:
        """Removes input i."""
        self._changed()
        del self._inputs[i]

    def removeAllInputs(self) -> None:
        """Leaves it without inputs."""
        self._changed()
        self._inputs.clear()

    def addOutput(self) -> Value:
        """Adds an output behind the others."""
        self._changed()
        value = Value(self)
        self._outputs.append(value)
        return value

    def eraseOutput(self, i: int) -> None:
        """Removes output i. RuntimeError: it is taken."""
        self._changed()
        if self._outputs[i].uses():
            raise RuntimeError(f"output {i} of '{self._kind}' has uses")
        del self._outputs[i]

    def addBlock(self) -> Block:
        """Adds an empty block."""
        self._changed()
        block = Block(self._block._graph, self)
        self._blocks.append(block)
        return block

    def replaceAllUsesWith(self, other: Node) -> None:
        """Whoever takes its outputs takes the other's."""
        if len(self._outputs) != len(other._outputs):
            raise RuntimeError("the nodes have different numbers of outputs")
        for old, new in zip(self._outputs, other._outputs):
            old.replaceAllUsesWith(new)

    def insertBefore(self, node: Node) -> Node:
        """Puts it before a node of a block; it must stand nowhere yet."""
        return node._block._put(self, node, 0)

    def insertAfter(self, node: Node) -> Node:
        """Puts it behind a node of a block; it must stand nowhere yet."""
        return node._block._put(self, node, 1)

    def moveBefore(self, node: Node) -> None:
        """Takes it from where it stands to before a node."""
        self._changed()
        self._block._nodes.remove(self)
        node._block._put(self, node, 0)

    def moveAfter(self, node: Node) -> None:
        """Takes it from where it stands to behind a node."""
        self._changed()
        self._block._nodes.remove(self)
        node._block._put(self, node, 1)

    def destroy(self) -> None:
        """Removes it for good. RuntimeError: an output is taken."""
        self._changed()
        if self.hasUses():
            raise RuntimeError(f"an output of '{self._kind}' has uses")
        self._block._nodes.remove(self)

    def __repr__(self) -> str:
        return text.node_text(self)


class Block:
    """Nodes in the order in which they run, and what they give."""

    __module__ = "torch._C"

    def __init__(self, graph, owner: Node | None = None) -> None:
        self._graph = graph
        self._owner = owner
        self._nodes: list[Node] = []
        self._param = Node(self, "prim::Param")
        self._return = Node(self, "prim::Return")

    def nodes(self):
        """The nodes, without those of blocks inside."""
        return iter(list(self._nodes))

    def inputs(self):
        """The parameters."""
        return self._param.outputs()

    def outputs(self):
        """Values that it gives."""
        return self._return.inputs()

    def paramNode(self) -> Node:
        """The node whose outputs are the parameters."""
        return self._param

    def returnNode(self) -> Node:
        """The node whose inputs are what the block gives."""
        return self._return

    def owningNode(self) -> Node | None:
        """The node that the block is of; None for a graph's own block."""
        return self._owner

    def findNode(self, kind: str, recurse: bool = True) -> Node | None:
        """The first node of that kind, or None."""
        return next(iter(self.findAllNodes(kind, recurse)), None)

    def findAllNodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """The nodes of that kind, in order; unless `recurse` is False with
        those of blocks inside.
        """
        check_kind(kind)
        found = []
        for node in self._nodes:
            if node._kind == kind:
                found.append(node)
            if recurse:
                found += node.findAllNodes(kind)
        return found

    def addNode(self, kind: str, inputs=()) -> Node:
        """Makes a node with one output at the block's end."""
        self._graph._changed()
        node = self._graph.create(kind, list(inputs))
        return self._put(node, self._return, 0)

    def addInputToBlock(self) -> Value:
        """Adds a parameter."""
        return self._param.addOutput()

    def registerOutput(self, value: Value) -> int:
        """Adds to what the block gives; gives its place."""
        self._return.addInput(value)
        return len(self._return._inputs) - 1

    def _index(self, node: Node) -> int:
        for i, own in enumerate(self._nodes):
            if own is node:
                return i
        return len(self._nodes)

    def _put(self, node: Node, where: Node, after: int) -> Node:
        self._graph._changed()
        node._block = self
        at = 0 if where is self._param else self._index(where) + after
        self._nodes.insert(at, node)
        return node
