"""Passes that take out what is not needed: nodes, and nodes made twice."""

from __future__ import annotations

import hotaru

from .._ir.aliases import (
    Aliases,
    _is_immutable,
    has_effects,
    is_random,
    schema_of,
    written,
)
from .._ir.arithmetic import TABLE
from .rewriting import remove, replace, rewriting

__all__ = ["dead_code", "twice", "unneeded"]


def dead_code(graph) -> None:
    """Takes out nodes whose outputs nobody takes, and writes to what nobody
    reads any more.
    """
    with rewriting(graph):
        unneeded(graph)


def unneeded(graph) -> bool:
    """As `dead_code`, in a graph that is open to changes. True if there was
    any.
    """
    before = sum(1 for _ in graph._all_nodes())
    _Sweep(graph).run()
    return sum(1 for _ in graph._all_nodes()) != before


class _Sweep:
    """Marks what is needed, beginning at the results, then removes the rest."""

    def __init__(self, graph) -> None:
        self._graph = graph
        self._aliases = Aliases(graph)
        self._needed: set[int] = set()  # nodes
        self._values: set[int] = set()
        self._classes: set[int] = set()
        self._changed = True

    def run(self) -> None:
        for value in self._graph.outputs():
            self._take(value)
        while self._changed:
            self._changed = False
            self._mark(self._graph.block())
        self._remove(self._graph.block())

    def _take(self, value) -> None:
        if id(value) not in self._values:
            self._values.add(id(value))
            self._classes |= self._aliases.held_by(value)
            self._changed = True

    def _writes_needed(self, node) -> bool:
        return any(
            self._aliases.is_outside(value) or self._aliases.of(value) in self._classes
            for value in written(node)
        )

    def _mark(self, block) -> bool:
        """True if the block has a node that is needed for itself."""
        found = False
        for node in reversed(block._nodes):
            inner = [self._mark(b) for b in node._blocks]
            alone = any(inner) or self._writes_needed(node)
            if not node._blocks or node.kind() not in ("prim::If", "prim::Loop"):
                alone = alone or has_effects(node)
            found = found or alone
            taken = any(id(out) in self._values for out in node._outputs)
            if alone or taken:
                self._need(node)
        return found

    def _need(self, node) -> None:
        if id(node) not in self._needed:
            self._needed.add(id(node))
            self._changed = True
        kind = node.kind()
        if kind == "prim::If":
            self._take(node._inputs[0])
            for block in node._blocks:
                for out, given in zip(node._outputs, block._return._inputs):
                    if id(out) in self._values:
                        self._take(given)
        elif kind == "prim::Loop":
            self._need_loop(node)
        else:
            for value in node._inputs:
                self._take(value)
            for block in node._blocks:
                for value in block._return._inputs:
                    self._take(value)

    def _need_loop(self, node) -> None:
        (body,) = node._blocks
        self._take(node._inputs[0])
        self._take(node._inputs[1])
        self._take(body._return._inputs[0])
        params = body._param._outputs[1:]
        rows = zip(node._outputs, params, node._inputs[2:], body._return._inputs[1:])
        for out, param, first, given in rows:
            if id(out) in self._values or id(param) in self._values:
                self._take(param)
                self._take(first)
                self._take(given)

    def _remove(self, block) -> None:
        for node in reversed(list(block._nodes)):
            if id(node) not in self._needed:
                node._blocks.clear()
                remove(node)
                continue
            if node.kind() == "prim::If":
                self._drop_outputs(node)
            elif node.kind() == "prim::Loop":
                self._drop_states(node)
            for inner in node._blocks:
                self._remove(inner)

    def _drop_outputs(self, node) -> None:
        for i in reversed(range(len(node._outputs))):
            if id(node._outputs[i]) not in self._values:
                del node._outputs[i]
                for block in node._blocks:
                    if block._return._inputs:
                        del block._return._inputs[i]

    def _drop_states(self, node) -> None:
        (body,) = node._blocks
        params = body._param._outputs
        for i in reversed(range(len(node._outputs))):
            needed = id(node._outputs[i]) in self._values
            if not needed and id(params[i + 1]) not in self._values:
                del node._outputs[i], params[i + 1]
                del node._inputs[i + 2], body._return._inputs[i + 1]


def twice(graph) -> None:
    """Takes out nodes that compute what another before them has computed."""
    with rewriting(graph):
        changed = {
            aliases.of(value)
            for aliases in (Aliases(graph),)
            for node in graph._all_nodes()
            for value in written(node)
        }
        aliases = Aliases(graph)
        given = set().union(*map(aliases.held_by, graph.outputs()))
        _twice(graph.block(), [], aliases, (changed, given))


def _twice(block, outside: list, aliases, kept: tuple) -> None:
    changed, given = kept
    known = [*outside, {}]
    for node in list(block._nodes):
        for inner in node._blocks:
            _twice(inner, known, aliases, kept)
        key = _key(node, aliases, changed)
        if key is None:
            continue
        other = next((k[key] for k in known if key in k), None)
        if other is None:
            known[-1][key] = node
            continue
        pairs = list(zip(node._outputs, other._outputs))
        # Results stay two things, unless nobody can change them.
        if any(
            given.issuperset(map(aliases.of, pair))
            and not _is_immutable(pair[0].type())
            for pair in pairs
        ):
            continue
        for out, same in pairs:
            replace(out, same)
        remove(node)


def _key(node, aliases, changed):
    """A text that nodes that give the same have in common; None: it is alone."""
    kind = node.kind()
    values = [*node._inputs, *node._outputs]
    # Arithmetic of numbers, of which a text may not say the signature.
    plain = kind.removeprefix("aten::") in TABLE and all(
        _is_immutable(value.type()) for value in values
    )
    if node._blocks or is_random(node) or written(node):
        return None
    if has_effects(node) and not plain:
        return None
    if any(aliases.of(value) in changed for value in values):
        return None
    if kind != "prim::Constant":
        if not kind.startswith("aten::") or (schema_of(node) is None and not plain):
            return None
        if any(aliases.is_outside(value) for value in node._outputs):
            return None
    parts = []
    for name, (sort, value) in node._values.items():
        if isinstance(value, list):
            return None  # whoever gets it may change it
        if isinstance(value, hotaru.Tensor):
            value = id(value)
        parts.append((name, sort, value.__class__.__name__, repr(value)))
    types = tuple(out.type().str() for out in node._outputs)
    return kind, node._schema, tuple(map(id, node._inputs)), tuple(parts), types
