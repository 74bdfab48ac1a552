"""Lists and dicts that are read where they are made."""

from __future__ import annotations

from .._ir.aliases import quiet_values
from .rewriting import constant_before, replace

_KEYS = (bool, int, float, str)


class Idioms:
    """One round over a graph that is open to changes."""

    def __init__(self, graph) -> None:
        self._graph = graph
        self._is_quiet = quiet_values(graph)

    def run(self) -> bool:
        changed = False
        for node in list(self._graph._all_nodes()):
            changed = self._node(node) or changed
        return changed

    def _node(self, node) -> bool:
        if not node._inputs or not node._outputs:
            return False
        made = node._inputs[0].node()
        kind = made.kind()
        if kind == "prim::ListConstruct":
            if self._is_quiet(node._inputs[0]):
                return self._list(node, made)
        elif kind == "prim::DictConstruct":
            if self._is_quiet(node._inputs[0]):
                return self._dict(node, made)
        elif kind == "prim::TupleConstruct":
            return self._tuple(node, made)
        return False

    def _give(self, node, value) -> bool:
        out = node._outputs[0]
        if not out.uses():
            return False
        if not hasattr(value, "_node"):
            value = constant_before(node, value, out.type())
        replace(out, value)
        return True

    def _list(self, node, made) -> bool:
        kind, items = node.kind(), made._inputs
        if kind == "aten::len":
            return self._give(node, len(items))
        if kind == "aten::__getitem__":
            index = node._inputs[1].toIValue()
            if isinstance(index, int) and -len(items) <= index < len(items):
                return self._give(node, items[index])
            return False
        if kind == "prim::ListUnpack" and len(items) == len(node._outputs):
            return self._spread(node, items)
        if kind == "aten::slice":
            return self._slice(node, made)
        if kind == "aten::add":
            other = node._inputs[1]
            quiet = self._is_quiet(other) and self._is_quiet(node._outputs[0])
            if other.node().kind() == "prim::ListConstruct" and quiet:
                return self._become_list(node, [*items, *other.node()._inputs])
        return False

    def _slice(self, node, made) -> bool:
        values = node._inputs[1:]
        if any(v.node().kind() != "prim::Constant" for v in values):
            return False
        bounds = [v.toIValue() for v in values]
        if len(bounds) != 3 or not self._is_quiet(node._outputs[0]):
            return False
        return self._become_list(node, made._inputs[slice(*bounds)])

    def _become_list(self, node, items) -> bool:
        """The node makes the list itself, which is a new one as before."""
        node._kind, node._schema = "prim::ListConstruct", None
        node._inputs = list(items)
        return True

    def _spread(self, node, items) -> bool:
        used = [out for out in node._outputs if out.uses()]
        for out, item in zip(node._outputs, items):
            replace(out, item)
        return bool(used)

    def _dict(self, node, made) -> bool:
        keys = [value.toIValue() for value in made._inputs[::2]]
        known = all(isinstance(key, _KEYS) for key in keys)
        if not known or len(set(keys)) != len(keys):
            return False
        if node.kind() == "aten::len":
            return self._give(node, len(keys))
        if node.kind() == "aten::__getitem__":
            key = node._inputs[1].toIValue()
            if key in keys:
                return self._give(node, made._inputs[2 * keys.index(key) + 1])
        return False

    def _tuple(self, node, made) -> bool:
        kind, items = node.kind(), made._inputs
        if kind == "prim::TupleUnpack" and len(items) == len(node._outputs):
            return self._spread(node, items)
        if kind == "prim::TupleIndex":
            index = node._inputs[1].toIValue()
            if isinstance(index, int) and -len(items) <= index < len(items):
                return self._give(node, items[index])
        return False
