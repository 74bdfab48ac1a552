"""Operators that make values in place of those that change them."""

from __future__ import annotations

from .._ir.aliases import Aliases, has_effects, schema_of, written
from .._ir.nodes import Node
from .._ir.values import Value
from .rewriting import remove, replace, rewriting

__all__ = ["is_fresh", "without_mutation"]

_OTHERS = {"aten::zero_": "aten::zeros_like", "aten::fill_": "aten::fill"}
_LISTS = ("aten::append", "aten::insert", "aten::_set_item")


def without_mutation(graph, kinds=None) -> bool:
    """Replaces `x.add_(1)` by `x = x.add(1)` where x was made just before, for
    the graph alone, and `a.append(1)` by a longer list. True if there was any.

    Args:
        graph: changed.
        kinds: the operators to replace, all unless given.
    """
    changed = False
    with rewriting(graph):
        while any(_round(block, graph, kinds) for block in list(graph._blocks())):
            changed = True
    return changed


def _round(block, graph, kinds) -> bool:
    """True if it has replaced one node of the block."""
    aliases = Aliases(graph)
    for node in list(block._nodes):
        if kinds is not None and node.kind() not in kinds:
            continue
        if node.kind() in _LISTS and _list(node, aliases):
            return True
        if node.kind().startswith("aten::") and _tensor(node, aliases):
            return True
    return False


def is_fresh(value, block) -> bool:
    """True if a node of the block makes it, and it is nothing else then."""
    node = value.node()
    if node._block is not block or node.kind() == "prim::Param":
        return False
    if node.kind() == "prim::If":
        i = value.offset()
        gives = [b._return._inputs[i] for b in node._blocks if b._return._inputs]
        return len(gives) == 2 and all(
            len(give.uses()) == 1 and is_fresh(give, inner)
            for give, inner in zip(gives, node._blocks)
        )
    if node.kind() == "aten::tensor":
        return True
    schema = schema_of(node) if node.kind().startswith("aten::") else None
    if schema is None or written(node):
        return False
    return all(r.alias_info is None for r in schema.returns) and not has_effects(node)


def _is_next(value, node, aliases) -> bool:
    """True if nobody takes the value between its making and the node."""
    nodes = node._block._nodes
    number = aliases.of(value)
    between = nodes[node._block._index(value.node()) + 1 : node._block._index(node)]
    waiting = list(between)
    while waiting:
        other = waiting.pop()
        if any(number in aliases.held_by(v) for v in other._inputs):
            return False
        for inner in other._blocks:
            waiting += [*inner._nodes, inner._return]
    return True


def _tensor(node, aliases) -> bool:
    changes = written(node)
    if len(changes) != 1 or not node._inputs or changes[0] is not node._inputs[0]:
        return False
    value, name = node._inputs[0], node.kind()
    new = _OTHERS.get(name, name[:-1] if name.endswith("_") else None)
    if new is None or len(node._outputs) != 1 or not _has(new):
        return False
    if not is_fresh(value, node._block) or not _is_next(value, node, aliases):
        return False
    inputs = node._inputs[:1] if new == "aten::zeros_like" else node._inputs
    out = _put(node, new, inputs, value)
    replace(node._outputs[0], out)
    remove(node)
    return True


def _has(kind: str) -> bool:
    import hotaru

    return hasattr(hotaru.ops.aten, kind.partition("::")[2])


def _put(node, kind: str, inputs, old) -> Value:
    """A node in place of another, whose value later ones take for the old."""
    block = node._block
    made = Node(block, kind)
    made._inputs, made._place = list(inputs), node._place
    out = Value(made, old.type())
    made._outputs.append(out)
    block._nodes.insert(block._index(node), made)
    for user, i in old.uses():
        if user is not made and user.isAfter(node):
            user._inputs[i] = out
    return out


def _list(node, aliases) -> bool:
    value = node._inputs[0]
    made = value.node()
    if made.kind() != "prim::ListConstruct" or made._block is not node._block:
        return False
    if not _is_next(value, node, aliases):
        return False
    items = list(made._inputs)
    if node.kind() == "aten::append":
        items.append(node._inputs[1])
    else:
        index, item = node._inputs[1].toIValue(), node._inputs[2]
        if not isinstance(index, int):
            return False
        if node.kind() == "aten::insert":
            items.insert(index, item)
        elif -len(items) <= index < len(items):
            items[index] = item
        else:
            return False
    out = _put(node, "prim::ListConstruct", items, value)
    for given in node._outputs:
        replace(given, out)
    remove(node)
    return True
