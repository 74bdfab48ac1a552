"""Graphs that are written while a program runs, one inside another."""

from __future__ import annotations

import operator

from .. import fx
from ._expressions import Expression, Quotient, Symbol
from ._numbers import SymbolicFloat, SymbolicInt
from ._operators import sym_size
from ._values import Value

__all__ = ["Builder"]

_SIGNS = {
    operator.add: "Add",
    operator.sub: "Sub",
    operator.mul: "Mul",
    operator.truediv: "FloatTrueDiv",
    operator.pow: "FloatPow",
}


class Builder:
    """A graph, and how values outside of it come in and its own get out.

    Args:
        parent: the graph that this is inside of.
        modes: whether operators in it record gradients, and autocast's state.
        part: whether it is there for its modes, and not a branch.
    """

    def __init__(
        self, trace, parent: Builder | None, modes: tuple, part: bool = False
    ) -> None:
        self.trace, self.parent, self.modes = trace, parent, modes
        self.is_part = part
        self.graph = fx.Graph()
        self.nodes: dict = {}
        self.inputs: list = []
        self.outputs: list[Value] = []
        self.closed = False
        self.node = None  # of the operator that runs this graph, in `parent`

    # --- tensors ---

    def node_of(self, value: Value):
        """The node of a tensor in this graph."""
        found = self.nodes.get(value)
        if found is not None:
            return found
        self._bring_out(value)
        if value.home is self:
            return value.node
        if self.parent is None:
            raise RuntimeError(
                "export: a tensor of a branch is used outside of it; return it "
                f"from the branch. At {self.trace.where()}"
            )
        outer = self.parent.node_of(value)
        node = self._input(outer.name, value)
        node.meta.update(val=value.fakes[0], facts=value.facts)
        self.nodes[value] = node
        return node

    def _input(self, name: str, value):
        last = next((n for n in self.graph.nodes if n.op != "placeholder"), None)
        if last is None:
            node = self.graph.placeholder(name)
        else:
            with self.graph.inserting_before(last):
                node = self.graph.placeholder(name)
        self.inputs.append(value)
        return node

    def _bring_out(self, value: Value) -> None:
        """A value of a part that has ended becomes one of the graph around."""
        home = value.home
        while home is not None and home.closed and home.node is not None:
            if value.node.op == "placeholder":
                break
            place = len(home.outputs)
            home.outputs.append((value.node, value))
            node = home.parent.graph.call_function(operator.getitem, (home.node, place))
            node.meta.update(val=value.fakes[0], facts=value.facts)
            node.meta["stack"] = home.node.meta.get("stack", [])
            value.home, value.node = home.parent, node
            home = home.parent

    # --- numbers ---

    def number(self, value):
        """The node of a number that is computed of sizes; or the number."""
        if type(value) is SymbolicFloat:
            return self._float(value)
        if type(value) is SymbolicInt:
            value = value.expression
        if not isinstance(value, Expression):
            return value
        return self.of_expression(value)

    def of_expression(self, e: Expression):
        """The node of an expression; a number where it is one."""
        if e.number is not None:
            return e.number
        found = self.nodes.get(e)
        if found is None:
            found = self.nodes[e] = self._computed(e)
        return found

    def _computed(self, e: Expression):
        if e.symbol:
            return self._symbol(e.symbol)
        total = None
        for factors, count in e._sorted():
            product = None
            for atom, power in factors:
                one = self._atom(atom)
                for _ in range(power):
                    product = self._binary(operator.mul, product, one)
            if product is None:
                product = self._plain(count)
            elif count != 1:
                product = self._binary(operator.mul, self._plain(count), product)
            total = self._binary(operator.add, total, product)
        return total[1]

    def _plain(self, number: int) -> tuple:
        return Expression.of(number), number

    def _atom(self, atom) -> tuple:
        e = Expression.of(atom)
        known = self.nodes.get(e)
        if known is not None:
            return e, known
        if isinstance(atom, Symbol):
            node = self._symbol(atom.name)
        else:
            node = self._quotient(atom, e)
        self.nodes[e] = node
        return e, node

    def _quotient(self, atom: Quotient, e: Expression):
        function = operator.mod if atom.rest else operator.floordiv
        args = self.of_expression(atom.base), self.of_expression(atom.by)
        return self._call(function, args, e)

    def _binary(self, function, a: tuple | None, b: tuple) -> tuple:
        if a is None:
            return b
        if function is operator.add and b[0].number and b[0].number < 0:
            e = a[0] + b[0]
            known = self.nodes.get(e)
            args = (a[1], -b[0].number)
            return e, known or self._call(operator.sub, args, e)
        e = function(a[0], b[0])
        found = self.nodes.get(e)
        if found is None:
            found = self.nodes[e] = self._call(function, (a[1], b[1]), e)
        return e, found

    def _call(self, function, args: tuple, e: Expression):
        node = self.graph.call_function(function, args)
        node.meta.update(val=self.trace.sizes.hint(e), expression=e)
        return node

    def _symbol(self, name: str):
        e = Expression.of(Symbol(name))
        value, dim, offset, factor = self.trace.place_of(name)
        node = self.graph.create_node(
            "call_function", sym_size, (self.node_of(value), dim), name="sym_size_int"
        )
        size = e * factor + offset
        node.meta.update(val=self.trace.sizes.hint(size), expression=size)
        if offset:
            node = self._call(operator.sub, (node, offset), size - offset)
        if factor != 1:
            node = self._call(operator.floordiv, (node, factor), e)
        return node

    def _float(self, value: SymbolicFloat):
        found = self.nodes.get(id(value))
        if found is None:
            args = tuple(map(self.number, value.args))
            found = self.graph.call_function(value.function, args)
            found.meta.update(val=value.hint, float=spelled_float(value))
            found.meta["keep"] = value
            self.nodes[id(value)] = found
        return found


def spelled_float(value) -> str:
    """As constructors' calls, which files have."""
    if type(value) is SymbolicInt:
        return value.expression.spelled()
    if type(value) is SymbolicFloat:
        inner = ", ".join(map(spelled_float, value.args))
        return f"{_SIGNS[value.function]}({inner})"
    kind = "Integer" if type(value) is int else "Float"
    return f"{kind}({value!r})"
