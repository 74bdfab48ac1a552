"""Graphs of compiled programs, changed by passes that keep their meaning."""

from __future__ import annotations

import contextlib


@contextlib.contextmanager
def rewriting(graph):
    """Lets a pass change a graph. The program that it describes shows the graph
    as it is then; it keeps doing what it did, which is the same.
    """
    read_only, graph._read_only = graph._read_only, False
    try:
        yield
    finally:
        graph._read_only = read_only
        graph._described()


def remove(node) -> None:
    """Takes a node that nobody needs out of its block."""
    nodes = node._block._nodes
    del nodes[node._block._index(node)]
    node._gone = True


def replace(old, new) -> None:
    """Whoever takes the value takes the other."""
    for user, i in old.uses():
        user._inputs[i] = new


def constant_before(node, value, type=None):
    """A constant in front of the node; its value."""
    from .._ir.graph import set_constant
    from .._ir.nodes import Node
    from .._ir.values import Value

    constant = Node(node._block, "prim::Constant")
    constant._outputs.append(Value(constant, type))
    set_constant(constant, value)
    if type is not None:
        constant._outputs[0]._type = type
    constant._place = node._place
    block = node._block
    block._nodes.insert(block._index(node), constant)
    return constant._outputs[0]
