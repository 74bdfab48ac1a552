"""Operators that a graph may have as what they are made of."""

from __future__ import annotations

from .._ir.aliases import schema_of
from .._ir.graph import Copies, copy_block
from .._ir.nodes import Block
from .rewriting import remove, replace, rewriting

__all__ = ["decomposed", "register_decomposition"]

_KNOWN: dict[tuple[str, str], object] = {}  # graphs, by name and overload
_OWN = {
    ("aten::var", ""): """
def var(x: Tensor, unbiased: bool):
    away = x - x.mean()
    if away.is_complex():
        away = away.abs()
    count = x.numel()
    if unbiased:
        count = count - 1
    return (away * away).sum() / float(max(count, 0))
"""
}


def register_decomposition(op, graph) -> None:
    """Says what an operator is made of, for `_jit_pass_run_decompositions`.

    Args:
        op: an overload: `torch.ops.aten.square.default`.
        graph: takes what the operator takes and gives what it gives; it is kept
            as it is now.

    RuntimeError: it takes or gives another number of values.
    """
    schema = op._schema
    takes, gives = len(list(graph.inputs())), len(list(graph.outputs()))
    if takes != len(schema.arguments) or gives != len(schema.returns):
        raise RuntimeError(
            f"the graph of {schema.name} takes {takes} values and gives {gives}; "
            f"the operator takes {len(schema.arguments)} and gives "
            f"{len(schema.returns)}"
        )
    _KNOWN[schema.name, schema.overload_name] = graph.copy()


def _graph_for(node):
    schema = schema_of(node) if node.kind().startswith("aten::") else None
    if schema is None:
        return None
    key = schema.name, schema.overload_name
    if key not in _KNOWN and key in _OWN:
        from .._compilation_unit import CompilationUnit

        unit = CompilationUnit(_OWN[key])
        _KNOWN[key] = getattr(unit, key[0].partition("::")[2]).graph.copy()
    return _KNOWN.get(key)


def decomposed(graph) -> bool:
    """Puts what operators are made of in their place, where that is known. True
    if there was any.
    """
    changed = False
    with rewriting(graph):
        for node in list(graph._all_nodes()):
            made_of = _graph_for(node)
            if made_of is not None and len(node._inputs) == len(list(made_of.inputs())):
                _put(node, made_of)
                changed = True
    return changed


def _put(node, made_of) -> None:
    block = node._block
    inside = Block(block._graph, block._owner)
    values = Copies()
    copy_block(made_of.block(), inside, values)
    for value in values.all():
        value._name = ""
    at = block._index(node)
    for inner in inside._nodes:
        inner._block = block
    block._nodes[at:at] = inside._nodes
    for param, given in zip(inside._param._outputs, node._inputs):
        replace(param, given)
        results = inside._return._inputs
        inside._return._inputs = [given if v is param else v for v in results]
    for out, value in zip(node._outputs, inside._return._inputs):
        replace(out, value)
    remove(node)
