"""Symbolic types of graphs: variables that are equal become one."""

from __future__ import annotations

from ..tensor_type import TensorType
from .graph_gradual_typechecker import Refine
from .refinement_types import Equality
from .unification import unify, walk

__all__ = [
    "check_for_type_equality",
    "infer_symbolic_types",
    "infer_symbolic_types_single_pass",
    "substitute_all_types",
    "substitute_solution_one_type",
    "unify_eq",
]


def infer_symbolic_types_single_pass(traced) -> Refine:
    """Gives unknown sizes variables, one for those that must be equal.

    TypeError: known sizes differ that must be equal.
    """
    refine = Refine(traced)
    refine.refine()
    values = unify_eq(refine.constraints)
    if values is False:
        raise TypeError(f"No sizes satisfy all of {refine.constraints}")
    substitute_all_types(traced.graph, values)
    return refine


def infer_symbolic_types(traced) -> None:
    """The same twice, since sums need it, and sizes as expressions of sympy.

    Raises:
        TypeError: known sizes differ that must be equal.
        ImportError: there is no sympy.
    """
    infer_symbolic_types_single_pass(traced)
    infer_symbolic_types_single_pass(traced).symbolic_relations()


def unify_eq(list_of_eq: list[Equality]) -> dict | bool:
    """Values of variables by which all hold; False if there are none."""
    return unify(tuple(eq.lhs for eq in list_of_eq), tuple(eq.rhs for eq in list_of_eq))


def substitute_solution_one_type(mapping: dict, t):
    """A type, or several, with values for variables."""
    if isinstance(t, TensorType):
        return TensorType(tuple(walk(size, mapping) for size in t.dims))
    if isinstance(t, (list, tuple)):
        return type(t)(substitute_solution_one_type(mapping, x) for x in t)
    return walk(t, mapping)


def substitute_all_types(graph, mapping: dict) -> None:
    """Gives variables in the types of all nodes their values."""
    for node in graph.nodes:
        node.type = substitute_solution_one_type(mapping, node.type)


def check_for_type_equality(g1, g2) -> bool:
    """True if the nodes of two graphs have the same types, in order."""
    return all(n.type == m.type for n, m in zip(g1.nodes, g2.nodes))
