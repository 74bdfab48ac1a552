"""Values of graphs, and who takes them."""

# Names are PyTorch's.
# ruff: noqa: N802, N815
from __future__ import annotations

from typing import NamedTuple, Protocol

from ..._types import TensorType, Type
from . import text


class Node(Protocol):
    """Members of a node that are asked for here."""

    _block: object

    def isAfter(self, other: Node) -> bool: ...


class Use(NamedTuple):
    """A node that takes a value, and as which of its inputs."""

    user: Node
    offset: int

    def isAfter(self, other: Use) -> bool:
        """True if it stands behind the other, as a node or as an input."""
        if self.user is other.user:
            return self.offset > other.offset
        return self.user.isAfter(other.user)


class Value:
    """A variable: an output of a node, or a parameter of a block."""

    __module__ = "torch._C"

    def __init__(self, node: Node, type: Type | None = None, name="") -> None:
        self._node = node
        self._type = TensorType.get() if type is None else type
        self._unique = node._block._graph._number()
        self._name = name
        self._constant = None

    def debugName(self) -> str:
        """The name, without the percent sign that graphs print."""
        return self._name or str(self._unique)

    def setDebugName(self, name: str) -> None:
        """Names the value; another of that name gets a number behind it."""
        graph = self._node._block._graph
        graph._changed()
        graph._rename(self, name)

    def unique(self) -> int:
        """A number that no other value of the graph has."""
        return self._unique

    def type(self) -> Type:
        """Tells what kind of value it is."""
        return self._type

    def setType(self, type: Type) -> Value:
        """Says what kind of value it is, also in a compiled program's graph:
        the program does the same.
        """
        self._node._block._graph._described()
        self._type = type
        return self

    def setTypeAs(self, other: Value) -> Value:
        """Gives it the other's type."""
        return self.setType(other._type)

    def node(self) -> Node:
        """The node that makes it; for parameters one of kind prim::Param."""
        return self._node

    def offset(self) -> int:
        """Which of its node's outputs it is."""
        return next(i for i, out in enumerate(self._node._outputs) if out is self)

    def uses(self) -> list[Use]:
        """Who takes it, in the order in which the graph prints them."""
        return [
            Use(user, i)
            for user in self._node._block._graph._all_nodes()
            for i, value in enumerate(user._inputs)
            if value is self
        ]

    def replaceAllUsesWith(self, other: Value) -> None:
        """Whoever takes it takes the other."""
        self._node._block._graph._changed()
        for user, i in self.uses():
            user._inputs[i] = other

    def isCompleteTensor(self) -> bool:
        """True if dtype, device, sizes and strides are known."""
        type = self._type
        return isinstance(type, TensorType) and None not in (
            type.scalarType(),
            type.device(),
            type.sizes(),
            type.strides(),
        )

    def requires_grad(self) -> bool:
        """True if it may need gradients."""
        return isinstance(self._type, TensorType) and self._type.requires_grad()

    requiresGrad = requires_grad

    def toIValue(self):
        """A constant's value; None for what is none."""
        if self._node.kind() != "prim::Constant":
            return None
        if not self._node.hasAttribute("value"):
            return None
        value = self._node._attributes.value("value")
        return bool(value) if self._type.str() == "bool" else value

    def __repr__(self) -> str:
        return f"{self.debugName()} defined in ({text.node_text(self._node)})"
