"""Constants in place of what is computed of constants."""

from __future__ import annotations

import hotaru

from ..._types import ListType, TensorType, TupleType
from .._ir.aliases import Aliases, has_effects, is_random, schema_of, written
from .._ir.arithmetic import TABLE
from .calls import call
from .clean import unneeded
from .rewriting import constant_before, remove, replace, rewriting

__all__ = ["constants", "fold"]

_UNKNOWN = object()
_KEPT = ("prim::Constant", "prim::Uninitialized", "prim::GetAttr")
_NUMBERS = frozenset(("bool", "float", "int", "str", "NoneType", "Scalar"))
_PLAIN = ("bool", "float", "int", "str")
_MOST = 1 << 20  # elements of a tensor that becomes a constant
_SCALARS = (int, float, bool, str, complex, type(None))


def constants(graph) -> bool:
    """Computes what follows from constants, and takes out the branches and
    loops that never run. True if there was any.
    """
    with rewriting(graph):
        return fold(graph)


def fold(graph, numbers_alone: bool = False) -> bool:
    """As `constants`, in a graph that is open to changes.

    Args:
        graph: changed.
        numbers_alone: leaves what takes or makes lists and tensors.
    """
    changed = False
    while _Fold(graph, numbers_alone).run():
        changed = True
    return unneeded(graph) or changed


class _Fold:
    """One round over a graph."""

    def __init__(self, graph, numbers_alone: bool = False) -> None:
        self._graph, self._numbers_alone = graph, numbers_alone
        self._aliases = Aliases(graph)
        self._written = {
            self._aliases.of(value)
            for node in graph._all_nodes()
            for value in written(node)
        }

    def run(self) -> bool:
        return self._block(self._graph.block())

    def _block(self, block) -> bool:
        changed = False
        for node in list(block._nodes):
            kind = node.kind()
            if kind == "prim::If":
                if self._if(node):
                    return True
            elif kind == "prim::Loop":
                if self._loop(node):
                    return True
            elif any(self._block(inner) for inner in node._blocks):
                return True
            else:
                changed = self._node(node) or changed
        return changed

    # --- values ---

    def _value(self, value):
        """A value that is known, or _UNKNOWN."""
        node = value.node()
        if self._aliases.of(value) in self._written:
            return _UNKNOWN
        if node.kind() == "prim::Constant":
            if node.hasAttribute("name"):
                return _UNKNOWN
            return value.toIValue()
        if node.kind() in ("prim::ListConstruct", "prim::TupleConstruct"):
            items = [self._value(v) for v in node._inputs]
            if any(item is _UNKNOWN for item in items):
                return _UNKNOWN
            return items if node.kind() == "prim::ListConstruct" else tuple(items)
        return _UNKNOWN

    def _node(self, node) -> bool:
        kind = node.kind()
        if kind in _KEPT or node._blocks or not node._outputs:
            return False
        types = [value._type.str() for value in (*node._inputs, *node._outputs)]
        if self._numbers_alone and not set(types) <= _NUMBERS:
            return False
        if kind == "prim::ListConstruct":
            return self._list(node)
        if kind == "prim::TupleConstruct":
            return False
        if has_effects(node) or is_random(node) or written(node):
            return False
        if any(self._aliases.of(out) in self._written for out in node._outputs):
            return False
        inputs = [self._value(value) for value in node._inputs]
        if any(value is _UNKNOWN for value in inputs):
            return False
        result = _computed(node, inputs)
        results = [result] if len(node._outputs) == 1 else result
        if results is _UNKNOWN or not all(map(_may_stand, results)):
            return False
        for out, value in zip(node._outputs, results):
            tensor = isinstance(value, hotaru.Tensor)
            type = TensorType.create_from_tensor(value) if tensor else out._type
            new = constant_before(node, value, type)
            if out._name:
                new._name = out._name
            replace(out, new)
        remove(node)
        return True

    def _list(self, node) -> bool:
        """A list of numbers or texts that nobody changes is a constant."""
        out = node._outputs[0]
        items = [self._value(value) for value in node._inputs]
        plain = (bool, int, float, str)
        if not out.uses() or self._aliases.of(out) in self._written:
            return False
        if not isinstance(out._type, ListType) or out._type.str()[:-2] not in _PLAIN:
            return False
        if not all(isinstance(item, plain) for item in items):
            return False
        new = constant_before(node, items, out._type)
        new._name = out._name
        replace(out, new)
        remove(node)
        return True

    # --- blocks ---

    def _if(self, node) -> bool:
        condition = self._value(node._inputs[0])
        if condition is not _UNKNOWN:
            block = node._blocks[0 if condition else 1]
            _moved(block, node)
            for out, value in zip(node._outputs, block._return._inputs):
                replace(out, value)
            remove(node)
            return True
        for i, out in enumerate(node._outputs):
            gives = [b._return._inputs[i] for b in node._blocks if b._return._inputs]
            if len(gives) == 2 and _is_same(*gives) and out.uses():
                if _is_before(gives[0], node):
                    replace(out, gives[0])
                else:
                    value = gives[0].toIValue()
                    replace(out, constant_before(node, value, gives[0].type()))
                return True
        return any(self._block(inner) for inner in node._blocks)

    def _loop(self, node) -> bool:
        limit, condition = (self._value(v) for v in node._inputs[:2])
        never = condition is False or (isinstance(limit, int) and limit <= 0)
        if never and limit is not True:
            for out, value in zip(node._outputs, node._inputs[2:]):
                replace(out, value)
            node._blocks.clear()
            remove(node)
            return True
        (body,) = node._blocks
        params, gives = body._param._outputs[1:], body._return._inputs[1:]
        for param, give, first, out in zip(
            params, gives, node._inputs[2:], node._outputs
        ):
            if self._aliases.of(param) in self._written:
                continue
            used = [u for u in param.uses() if u.user is not body._return]
            if (give is param or give is first) and (used or out.uses()):
                for use in used:
                    use.user._inputs[use.offset] = first
                replace(out, first)
                return True
        return any(self._block(inner) for inner in node._blocks)


def _moved(block, node) -> None:
    """Puts the block's nodes before the node."""
    outer = node._block
    at = outer._index(node)
    for inner in block._nodes:
        inner._block = outer
    outer._nodes[at:at] = block._nodes
    block._nodes = []


def _is_before(value, node) -> bool:
    block = node._block
    owner = value.node()._block
    while block is not None:
        if block is owner:
            return True
        block = block._owner._block if block._owner is not None else None
    return False


def _is_same(a, b) -> bool:
    if a is b:
        return True
    nodes = a.node(), b.node()
    if any(n.kind() != "prim::Constant" or n.hasAttribute("name") for n in nodes):
        return False
    one, other = a.toIValue(), b.toIValue()
    plain = isinstance(one, _SCALARS) and one.__class__ is other.__class__
    return plain and one == other and a.type() == b.type()


def _may_stand(value) -> bool:
    """True if the value may be a constant of a graph."""
    if isinstance(value, hotaru.Tensor):
        return value.numel() <= _MOST and not value.requires_grad
    if isinstance(value, (list, tuple)):
        return all(map(_may_stand, value))
    return isinstance(value, (*_SCALARS, hotaru.device))


def _computed(node, inputs):
    """The result, or _UNKNOWN."""
    kind = node.kind()
    try:
        if kind == "prim::NumToTensor":
            value = inputs[0]
            dtype = hotaru.float64 if isinstance(value, float) else None
            return hotaru.tensor(value, dtype=dtype)
        if kind == "prim::TupleIndex":
            return inputs[0][inputs[1]]
        if kind in ("prim::TupleUnpack", "prim::ListUnpack"):
            items = inputs[0]
            return items[0] if len(node._outputs) == 1 else items
        if kind in ("prim::unchecked_cast", "prim::unchecked_unwrap_optional"):
            return inputs[0]
        if not kind.startswith("aten::"):
            return _UNKNOWN
        return _operator(node, inputs)
    except Exception:  # the program raises it when it runs
        return _UNKNOWN


def _operator(node, inputs):
    schema = schema_of(node)
    types = [value.type() for value in (*node._inputs, *node._outputs)]
    if any(_has_tensors(type) for type in types):
        if schema is None or any(r.alias_info is not None for r in schema.returns):
            return _UNKNOWN
        with hotaru.no_grad():
            return call(schema, inputs)
    rule = TABLE.get(node.kind().partition("::")[2])
    return _UNKNOWN if rule is None else rule(*inputs)


def _has_tensors(type) -> bool:
    if isinstance(type, TensorType):
        return True
    if isinstance(type, ListType):
        return _has_tensors(type.getElementType())
    return isinstance(type, TupleType) and any(map(_has_tensors, type.elements()))
