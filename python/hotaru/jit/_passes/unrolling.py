"""Loops with few turns, written out."""

from __future__ import annotations

from .._ir.graph import Outside, copy_block
from .._ir.nodes import Block
from .clean import unneeded
from .rewriting import constant_before, remove, replace, rewriting

__all__ = ["unrolled"]

_MOST_TURNS = 64
_MOST_NODES = 32  # of a body


def unrolled(graph) -> bool:
    """Writes out loops whose number of turns is a constant, 64 at most, and
    whose bodies are short. True if there was any.
    """
    changed = False
    with rewriting(graph):
        while any(_unrolled(node) for node in graph.findAllNodes("prim::Loop")):
            changed = True
        if changed:
            unneeded(graph)
    return changed


def _unrolled(node) -> bool:
    limit, condition = (value.toIValue() for value in node._inputs[:2])
    (body,) = node._blocks
    again = body._return._inputs[0].toIValue() if body._return._inputs else None
    if condition is not True or again is not True or isinstance(limit, bool):
        return False
    if not isinstance(limit, int) or limit > _MOST_TURNS or _count(body) > _MOST_NODES:
        return False
    states = node._inputs[2:]
    block = node._block
    for turn in range(max(limit, 0)):
        copied = Block(block._graph, node)
        copy_block(body, copied, Outside(lambda value: value))
        given = [constant_before(node, turn), *states]
        for param, value in zip(copied._param._outputs, given):
            _replace_in(copied, param, value)
        for inner in copied._nodes:
            inner._block = block
        at = block._index(node)
        block._nodes[at:at] = copied._nodes
        states = copied._return._inputs[1:]
    for out, value in zip(node._outputs, states):
        replace(out, value)
    remove(node)
    return True


def _count(block: Block) -> int:
    return sum(1 + sum(map(_count, node._blocks)) for node in block._nodes)


def _nodes(block: Block):
    for node in (*block._nodes, block._return):
        yield node
        for inner in node._blocks:
            yield from _nodes(inner)


def _replace_in(block: Block, old, new) -> None:
    for node in _nodes(block):
        node._inputs = [new if value is old else value for value in node._inputs]
