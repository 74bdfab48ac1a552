"""Numbers and lengths that conditions have shown."""

from __future__ import annotations

from .._ir.aliases import Aliases, written
from .._ir.nodes import Block
from .rewriting import constant_before, replace, rewriting

__all__ = ["integers", "lengths"]


def integers(graph) -> bool:
    """Puts the constant in place of a number where a condition has shown that
    they are the same: in the branch of `x == 4`, behind `assert x == 4`.
    """
    with rewriting(graph):
        return _Refine(graph, _numbers(graph)).run()


def lengths(graph) -> bool:
    """The same of lengths of lists that nobody changes."""
    aliases = Aliases(graph)
    changed = {aliases.of(v) for node in graph._all_nodes() for v in written(node)}

    def subject(value):
        node = value.node()
        if node.kind() != "aten::len" or aliases.of(node._inputs[0]) in changed:
            return None
        return node._inputs[0] if node._inputs[0].type().str()[-2:] == "[]" else None

    return _Refine(graph, subject).run()


def _numbers(graph):
    def subject(value):
        is_int = value.type().str() == "int"
        return value if is_int and value.node().kind() != "prim::Constant" else None

    return subject


class _Refine:
    """Knowledge by places: numbers by their subjects, block by block."""

    def __init__(self, graph, subject) -> None:
        self._graph, self._subject = graph, subject
        self._changed = False
        self._facts: dict[int, tuple[dict, dict]] = {}

    def run(self) -> bool:
        self._block(self._graph.block(), {})
        return self._changed

    def _block(self, block: Block, outside: dict) -> dict:
        """Facts that hold at the block's end."""
        known = dict(outside)
        for node in list(block._nodes):
            self._use(node, known)
            kind = node.kind()
            if kind in ("aten::eq", "aten::ne"):
                self._compare(node)
            elif kind == "aten::__not__":
                facts = self._facts.get(id(node._inputs[0]))
                if facts is not None:
                    self._facts[id(node._outputs[0])] = facts[::-1]
            elif kind == "prim::If":
                known |= self._if(node, known)
            else:
                for inner in node._blocks:
                    self._block(inner, known)
        self._use(block._return, known)
        return known

    def _use(self, node, known: dict) -> None:
        """Constants in place of what is known."""
        if node.kind() == "aten::len" and id(node._inputs[0]) in known:
            out = node._outputs[0]
            users = [u for u in out.uses() if u.user.kind() not in _COMPARES]
            for user, i in users:
                user._inputs[i] = self._constant(node, known[id(node._inputs[0])][0])
            return
        if node.kind() in _COMPARES:
            return
        for i, value in enumerate(node._inputs):
            if id(value) in known and self._subject(value) is value:
                at = node if node in node._block._nodes else None
                number = known[id(value)][0]
                node._inputs[i] = self._constant_in(node, at, number, value)

    def _constant(self, node, number: int):
        self._changed = True
        return constant_before(node, number, node._outputs[0].type())

    def _constant_in(self, node, at, number: int, value):
        self._changed = True
        if at is not None:
            return constant_before(at, number, value.type())
        block = node._block  # its end
        constant = self._graph.__class__().block().addNode("prim::Constant")
        constant._block = block
        block._nodes.append(constant)
        from .._ir.graph import set_constant

        set_constant(constant, number)
        out = constant._outputs[0]
        out._unique = self._graph._number()
        return out

    def _compare(self, node) -> None:
        a, b = node._inputs[:2]
        if a.node().kind() == "prim::Constant":
            a, b = b, a
        number, subject = b.toIValue(), self._subject(a)
        if isinstance(number, bool) and id(a) in self._facts:
            same = number is (node.kind() == "aten::eq")
            facts = self._facts[id(a)]
            self._facts[id(node._outputs[0])] = facts if same else facts[::-1]
            return
        if subject is None or isinstance(number, bool) or not isinstance(number, int):
            return
        equal = {id(subject): (number, subject)}
        holds = (equal, {}) if node.kind() == "aten::eq" else ({}, equal)
        self._facts[id(node._outputs[0])] = holds

    def _if(self, node, known: dict) -> dict:
        facts = self._facts.get(id(node._inputs[0]), ({}, {}))
        then, otherwise = node._blocks
        ends = []
        for block, more in zip((then, otherwise), facts):
            ends.append(None if _raises(block) else more)
            inside = self._block(block, {**known, **more})
            if ends[-1] is not None:
                ends[-1] = inside
        self._results(node, facts)
        self._same_result(node, facts)
        if ends[0] is None and ends[1] is not None:
            return ends[1]
        if ends[1] is None and ends[0] is not None:
            return ends[0]
        return {}

    def _same_result(self, node, facts) -> None:
        """`4 if x == 4 else x` is x."""
        for i, out in enumerate(node._outputs):
            gives = [b._return._inputs[i] for b in node._blocks]
            for (constant, value), known in zip((gives, gives[::-1]), facts):
                number, subject = known.get(id(value), (None, None))
                found = constant.toIValue()
                is_number = isinstance(found, int) and not isinstance(found, bool)
                if subject is value and is_number and found == number and out.uses():
                    replace(out, value)
                    self._changed = True
                    break

    def _results(self, node, facts) -> None:
        """Facts of conditions that branches give: `a and b`, `a or b`."""
        for i, out in enumerate(node._outputs):
            if out.type().str() != "bool":
                continue
            if any(len(b._return._inputs) <= i for b in node._blocks):
                continue
            gives = [b._return._inputs[i] for b in node._blocks]
            ways = []
            for wanted in (True, False):
                holds = []
                for give, more in zip(gives, facts):
                    constant = give.toIValue()
                    if isinstance(constant, bool) and constant is not wanted:
                        continue
                    inner = self._facts.get(id(give), ({}, {}))[0 if wanted else 1]
                    holds.append({**more, **inner})
                ways.append(_in_all(holds))
            self._facts[id(out)] = tuple(ways)


_COMPARES = ("aten::eq", "aten::ne")


def _in_all(holds: list[dict]) -> dict:
    if not holds:
        return {}
    first, *rest = holds
    return {
        k: v
        for k, v in first.items()
        if all(k in other and other[k][0] == v[0] for other in rest)
    }


def _raises(block: Block) -> bool:
    return any(
        node.kind() == "prim::RaiseException"
        or (len(node._blocks) == 2 and all(map(_raises, node._blocks)))
        for node in block._nodes
    )
