"""Passes of `torch._C._jit_pass_*` over graphs that Python holds."""

from __future__ import annotations

from .graph import Graph
from .native import graph_of

_CALLS = ("prim::CallFunction", "prim::CallMethod")


def lint(graph: Graph) -> None:
    """Checks the graph. RuntimeError: a value is taken before it is made."""
    graph.lint()


def canonicalize(graph: Graph, keep_unique_names: bool = True) -> Graph:
    """A graph with the values numbered in order, so that programs that differ
    in the numbers alone have one text.

    Args:
        graph: stays as it is.
        keep_unique_names: whether values with names keep them.
    """
    out = graph.copy()
    if not keep_unique_names:
        for value in out._values():
            value._name = ""
    return out


def inline(graph: Graph) -> None:
    """Puts what is called in place of calls, in the graph itself.

    RuntimeError: the graph has calls and was changed, or made by hand: it
    does not say what they call.
    """
    if not any(graph.findNode(kind) for kind in _CALLS):
        return
    if graph._program is None:
        raise RuntimeError(
            "_jit_pass_inline: a graph that was changed or read from text does "
            "not say what it calls; inline it before changing it"
        )
    program = graph._program
    graph._become(graph_of(program, inlined=True))
    graph._described()
    if graph._owner is None:
        graph._program = program
