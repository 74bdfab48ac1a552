"""Rewrites of what looks like a pattern (`_jit_pass_custom_pattern_based_...`)."""

from __future__ import annotations

import re

from .rewriting import remove, replace

_MANGLED = re.compile(r"\.___torch_mangle_\d+")


def rewrite(pattern: str, replacement: str, graph, value_name_pairs=()) -> None:
    """Puts one graph in place of each part that is like another.

    Args:
        pattern: text of a graph. What it gives may be taken by any node; what
            it makes besides is taken by its own nodes alone. A node
            `match::module[name="A.B"]` stands for getting a module of a class
            of that name.
        replacement: text of a graph with as many parameters and results.
        graph: changed, from its first node on; parts do not overlap.
        value_name_pairs: (name in the replacement, name in the pattern) of
            values whose nodes come from the same place of the source.

    Raises:
        RuntimeError: a text is no graph, the graphs have other parameters or
            results, or the graph is that of a program, which would go on
            doing what it does: rewrite a copy() of it.
    """
    from .._ir.reader import parse_named

    (pattern, taken), (replacement, made) = map(parse_named, (pattern, replacement))
    for count in (lambda g: len(list(g.inputs())), lambda g: len(list(g.outputs()))):
        if count(pattern) != count(replacement):
            raise RuntimeError(
                "a pattern and its replacement need as many parameters and results"
            )
    if not list(pattern.nodes()):
        raise RuntimeError("a pattern needs a node")
    graph._changed()
    pairs = [(made.get(a), taken.get(b)) for a, b in value_name_pairs or ()]
    if any(None in pair for pair in pairs):
        raise RuntimeError("value_name_pairs names a value that is in no graph")
    places = {id(new): old.node() for new, old in pairs}
    for block in list(graph._blocks()):
        done: set[int] = set()
        for node in list(block._nodes):
            found = None if id(node) in done else _Match.at(pattern, node)
            if found is None or done & {id(n) for n in found.nodes.values()}:
                continue
            if found.stands_before_users():
                done |= {id(n) for n in found.nodes.values()}
                _put(found, pattern, replacement, places)


class _Match:
    """Nodes and values of a graph that a pattern's stand for."""

    def __init__(self, pattern, anchor) -> None:
        self.anchor = anchor
        self.nodes: dict = {}  # by the pattern's
        self.values: dict = {}
        self._outputs = {id(value) for value in pattern.outputs()}

    @classmethod
    def at(cls, pattern, anchor) -> _Match | None:
        """The match whose last node is that one; None if there is none."""
        made = cls(pattern, anchor)
        first = list(pattern.nodes())[-1]
        if not made._node(first, anchor):
            return None
        # Results that no other node of the pattern takes.
        if any(id(value) not in made.values for value in pattern.outputs()):
            return None
        return made

    def stands_before_users(self) -> bool:
        """Tells whether all that takes its results comes behind it, and all
        that it takes before it.
        """
        mine = {id(node) for node in self.nodes.values()}
        block = self.anchor._block
        at = block._index(self.anchor)
        early = {id(node) for node in block._nodes[:at]} - mine
        users = (
            user
            for node in self.nodes.values()
            for value in node._outputs
            for user, _ in value.uses()
        )
        return not any(id(user) in early for user in users)

    def _value(self, wanted, value) -> bool:
        known = self.values.get(id(wanted))
        if known is not None:
            return known is value
        if wanted.node().kind() == "prim::Param":
            self.values[id(wanted)] = value
            return True
        if id(wanted) not in self._outputs and len(wanted.uses()) != len(value.uses()):
            return False
        return wanted.offset() == value.offset() and self._node(
            wanted.node(), value.node()
        )

    def _node(self, wanted, node) -> bool:
        if id(wanted) in self.nodes:
            return self.nodes[id(wanted)] is node
        if node._block is not self.anchor._block or not _alike(wanted, node):
            return False
        self.nodes[id(wanted)] = node
        pairs = zip(wanted._outputs, node._outputs)
        for out, value in pairs:
            outer = id(out) in self._outputs
            if not outer and len(out.uses()) != len(value.uses()):
                return False
            self.values[id(out)] = value
        return all(map(self._value, wanted._inputs, node._inputs))


def _alike(wanted, node) -> bool:
    if wanted.kind() == "match::module":
        name = _MANGLED.sub("", node.output().type().str()) if node._outputs else ""
        return node.kind() == "prim::GetAttr" and wanted.s("name") in name
    return (
        wanted.kind() == node.kind()
        and len(wanted._inputs) == len(node._inputs)
        and len(wanted._outputs) == len(node._outputs)
        and not node._blocks
        and _attributes(wanted) == _attributes(node)
    )


def _attributes(node) -> dict:
    return {name: (kind, repr(value)) for name, (kind, value) in node._values.items()}


def _put(found: _Match, pattern, replacement, places: dict) -> None:
    """Puts the replacement in front of the match's last node, and takes the
    match out.
    """
    graph = found.anchor._block._graph
    values = {
        id(inner): found.values.get(id(outer))
        for inner, outer in zip(replacement.inputs(), pattern.inputs())
    }
    for node in replacement.nodes():
        clone = graph.createClone(node, lambda value: values[id(value)])
        clone.insertBefore(found.anchor)
        clone._place = None
        for out, made in zip(node._outputs, clone._outputs):
            values[id(out)] = made
            source = found.nodes.get(id(places.get(id(out))))
            if source is not None:
                clone._place = source._place
    for inner, outer in zip(replacement.outputs(), pattern.outputs()):
        new, old = values[id(inner)], found.values[id(outer)]
        if new._type.str() == "Tensor":
            new._type = old._type
        replace(old, new)
    for node in sorted(found.nodes.values(), key=lambda n: -n._block._index(n)):
        remove(node)
