"""Calls that are made twice are made once."""

from __future__ import annotations

import functools

from ...._compatibility import compatibility
from ....graph import Graph
from ....graph_module import GraphModule
from ....node import Node
from ...infra.pass_base import PassBase, PassResult

__all__ = ["CSEPass", "get_CSE_banned_ops"]

# Operators that draw random numbers, by the beginning of their names.
_RANDOM = (
    "_fused_dropout",
    "_standard_gamma",
    "alpha_dropout",
    "bernoulli",
    "binomial",
    "dropout",
    "feature_alpha_dropout",
    "feature_dropout",
    "multinomial",
    "native_dropout",
    "normal",
    "poisson",
    "rand",
    "rrelu",
)


@functools.cache
def _banned() -> frozenset:
    from ....._subclasses.fake_names import overloads

    return frozenset(
        func.overloadpacket
        for func in overloads()
        if func._opname.startswith(_RANDOM)
        or (func._opname.endswith("_") and not func._opname.endswith("__"))
    )


@compatibility(is_backward_compatible=False)
def get_CSE_banned_ops() -> set:  # noqa: N802
    """The packets that give something else each time: those that draw random
    numbers, and those that write to their first argument.
    """
    return set(_banned())


@compatibility(is_backward_compatible=False)
class CSEPass(PassBase):
    """A copy of a module in which equal calls of equal arguments are one.

    Of functional graphs: a call may be left out that wrote to something.

    Args:
        banned_ops: packets (or functions) that are called each time.
    """

    def __init__(self, banned_ops=None) -> None:
        super().__init__()
        self.banned_ops = set(banned_ops or ())

    def call(self, graph_module: GraphModule) -> PassResult:
        """The module, or if nothing was equal the one that was given."""
        graph = Graph()
        graph._codegen = graph_module.graph._codegen
        stands_for: dict[Node, Node] = {}
        seen: dict = {}
        for node in graph_module.graph.nodes:
            key = self._key(node, stands_for)
            if key is not None and key in seen:
                stands_for[node] = seen[key]
                continue
            copy = graph.node_copy(node, stands_for.__getitem__)
            stands_for[node] = copy
            if key is not None:
                seen[key] = copy
        if len(graph.nodes) == len(graph_module.graph.nodes):
            return PassResult(graph_module, False)
        return PassResult(GraphModule(graph_module, graph), True)

    def _key(self, node: Node, stands_for: dict):
        """Returns what equal calls have in common; None where each is made."""
        if node.op not in ("call_function", "call_method", "call_module"):
            return None
        target = getattr(node.target, "overloadpacket", node.target)
        if target in self.banned_ops:
            return None
        key = (
            node.op,
            node.target,
            _frozen(node.args, stands_for),
            _frozen(node.kwargs, stands_for),
        )
        try:
            hash(key)
        except TypeError:
            return None
        return key


def _frozen(value, stands_for: dict):
    """Something hashable, that is equal for arguments that mean the same."""
    if isinstance(value, Node):
        return stands_for[value]
    if isinstance(value, (tuple, list)):
        kind = tuple if isinstance(value, tuple) else list
        return (kind, *(_frozen(x, stands_for) for x in value))
    if isinstance(value, dict):
        return (dict, *((k, _frozen(v, stands_for)) for k, v in value.items()))
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return (slice, *(_frozen(x, stands_for) for x in parts))
    return (type(value), value)
