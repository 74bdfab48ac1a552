"""Activations that change their input, in place of those that make a tensor,
and the other way round.
"""

from __future__ import annotations

from .._ir.aliases import Aliases
from .mutation import is_fresh, without_mutation
from .rewriting import rewriting

__all__ = ["in_functional_form", "in_place"]

# Activations whose result always has the input's dtype.
_KINDS = frozenset(
    f"aten::{name}"
    for name in [
        "celu",
        "elu",
        "hardsigmoid",
        "hardswish",
        "hardtanh",
        "leaky_relu",
        "relu",
        "relu6",
        "rrelu",
        "selu",
        "silu",
    ]
)


def in_place(graph) -> bool:
    """Makes activations change their input where the graph has made it, and
    nobody takes it afterwards. True if there was any.
    """
    changed = False
    with rewriting(graph):
        for node in list(graph._all_nodes()):
            if node.kind() in _KINDS and _may_change(graph, node):
                node._kind, node._schema = f"{node.kind()}_", None
                changed = True
    return changed


def _may_change(graph, node) -> bool:
    value = node._inputs[0]
    if not is_fresh(value, node._block):
        return False
    aliases = Aliases(graph)
    if aliases.is_outside(value):
        return False
    number, behind = aliases.of(value), False
    for other in graph._all_nodes():
        if other is node:
            behind = True
            continue
        takes = any(number in aliases.held_by(v) for v in other._inputs)
        if takes and behind:
            return False
    return True


def in_functional_form(graph) -> bool:
    """Makes activations that change their input give a tensor instead, where
    the graph has just made the input. True if there was any.
    """
    return without_mutation(graph, {f"{kind}_" for kind in _KINDS})
