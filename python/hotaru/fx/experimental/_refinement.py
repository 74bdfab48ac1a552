"""Sizes that are not known, as variables, and which of them are equal."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable

import hotaru
from hotaru import nn

from ..node import Node, map_arg
from ..tensor_type import Dyn, TensorType
from . import _gradual_shapes as shapes
from .refinement_types import Equality
from .unification import Var

_REFINEMENT_RULES: dict = {}
_RULES: dict = {}


def _registering(rules: dict, what: str) -> Callable:
    def register_rule(call_target) -> Callable:
        def register(rule):
            if call_target in rules:
                raise RuntimeError(f"{what} already registered for {call_target}!")
            rules[call_target] = rule
            return rule

        return register

    return register_rule


#: Decorates a rule for a function or a class of modules, which takes a node and
#: gives equalities. RuntimeError: there is one.
register_refinement_rule = _registering(_REFINEMENT_RULES, "Refinement rule")
#: The same of a rule that takes a node (and the module) and sets its type to
#: expressions.
register_algebraic_expressions_inference_rule = _registering(_RULES, "Rule")


def _mapped(typ, change: Callable):
    """A type, or several, with `change` made to each size."""
    if isinstance(typ, TensorType):
        return TensorType(tuple(_mapped(size, change) for size in typ.dims))
    if isinstance(typ, (list, tuple)):
        return type(typ)(_mapped(t, change) for t in typ)
    return change(typ)


class Refine:
    """Infers sizes of a traced module's nodes as variables.

    `constraints` are the equalities that `refine` found.
    """

    def __init__(self, traced) -> None:
        self.constraints: list[Equality] = []
        self.traced = traced
        self.symbol_iter = itertools.count()

    def refine(self) -> bool:
        """Gives unknown sizes variables, and finds what is equal; True."""
        for node in self.traced.graph.nodes:
            self.refine_node(node)
        return True

    def symbolic_relations(self) -> bool:
        """Writes sizes as expressions of sympy; True.

        ImportError: there is no sympy.
        """
        for node in self.traced.graph.nodes:
            self.infer_symbolic_relations(node)
        return True

    def replace_dyn_with_fresh_var(self, typ):
        """A type with a new variable for each Dyn."""
        return _mapped(typ, lambda t: Var(next(self.symbol_iter)) if t == Dyn else t)

    def convert_to_sympy_symbols(self, typ):
        """A type with symbols of sympy for variables."""
        import sympy

        return _mapped(
            typ, lambda t: sympy.symbols(str(t)) if isinstance(t, Var) else t
        )

    def refine_node(self, n: Node):
        """See `refine`."""
        n.type = self.replace_dyn_with_fresh_var(Dyn if n.type is None else n.type)
        rule = self._rule(_REFINEMENT_RULES, n)
        if rule is not None:
            self.constraints += rule(n)
        return _output_type(n)

    def infer_symbolic_relations(self, n: Node):
        """See `symbolic_relations`."""
        n.type = self.convert_to_sympy_symbols(n.type)
        rule = self._rule(_RULES, n)
        if rule is not None and n.op == "call_module":
            return rule(n, self.traced.get_submodule(n.target))
        if rule is not None:
            return rule(n)
        return _output_type(n)

    def _rule(self, rules: dict, n: Node):
        if n.op == "call_function":
            return rules.get(n.target)
        if n.op == "call_module":
            return rules.get(type(self.traced.get_submodule(n.target)))
        return None


def _output_type(n: Node):
    if n.op == "output":
        n.type = map_arg(n.args[0], lambda node: node.type)
    return n.type


def _known(n: Node) -> tuple | None:
    """The sizes of the input and of the result, if there are such."""
    before, after = n.args[0].type, n.type
    if isinstance(before, TensorType) and isinstance(after, TensorType):
        return before.dims, after.dims
    return None


def _first(count: int | None) -> Callable[[Node], list]:
    """The first sizes are the input's; all of them if None."""

    def rule(n: Node) -> list:
        known = _known(n)
        return [] if known is None else _equal(*(t[:count] for t in known))

    return rule


def _equal(first, second) -> list[Equality]:
    return [Equality(a, b) for a, b in zip(first, second)]


for _count, _kinds in (
    (1, (nn.Conv2d, nn.Linear)),
    (2, (nn.AdaptiveAvgPool2d, nn.MaxPool2d)),
    (None, (nn.BatchNorm2d, nn.ReLU)),
):
    for _kind in _kinds:
        register_refinement_rule(_kind)(_first(_count))


@register_refinement_rule(hotaru.add)
@register_refinement_rule(operator.add)
def element_wise_eq(n: Node) -> list[Equality]:
    """Sizes that both operands have are the result's.

    Others may be broadcast. Which variables are the same is known behind a
    first pass alone.
    """
    types = [a.type for a in n.args[:2] if isinstance(a, Node)]
    if len(types) < 2 or not all(isinstance(t, TensorType) for t in (*types, n.type)):
        return []
    pairs = zip(*(t.dims for t in shapes.broadcast_types(*types)), n.type.dims)
    return [Equality(a, result) for a, b, result in pairs if a == b]


@register_refinement_rule(hotaru.flatten)
def flatten_refinement_rule(n: Node) -> list[Equality]:
    """Sizes that are not joined stay."""
    known = _known(n)
    if known is None:
        return []
    before, after = known
    first, last = shapes.flattened_range(len(before), *shapes.dims_of_flatten(n))
    behind = len(before) - last
    return _equal(after[:first], before[:first]) + _equal(
        after[len(after) - behind :], before[last:]
    )


@register_algebraic_expressions_inference_rule(nn.Conv2d)
def conv_rule(n: Node, module_instance):
    """Height and width as expressions of the input's."""
    known = _known(n)
    if known is None:
        return n.type
    before, after = known
    inner = (
        shapes.calculate_out_dimension(size, module_instance, i)
        for i, size in enumerate(before[2:4])
    )
    n.type = TensorType((*after[:2], *inner))
    return n.type
