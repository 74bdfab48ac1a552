"""Small pieces of programs that are replaced by what they come to."""

from __future__ import annotations

from ..._types import (
    BoolType,
    DictType,
    FloatType,
    IntType,
    ListType,
    NoneType,
    OptionalType,
    TensorType,
)
from .._ir.aliases import Aliases, written
from .clean import unneeded
from .fold import _is_before
from .idioms import Idioms
from .rewriting import constant_before, remove, replace, rewriting

__all__ = ["list_idioms", "peephole"]

_CASTS = {
    "aten::Int": IntType,
    "aten::Float": FloatType,
    "aten::Bool": BoolType,
    "prim::unchecked_cast": None,
    "prim::unchecked_unwrap_optional": None,
}
# Numbers that leave the first of two numbers as it is; for sums the other way, too.
_NEUTRAL = {"aten::add": 0, "aten::sub": 0, "aten::mul": 1, "aten::floordiv": 1}
_BOTH_WAYS = ("aten::add", "aten::mul")


def peephole(graph, disable_shape_peepholes: bool = False) -> bool:
    """Replaces what is simpler than it is written: `x.t().t()`, `x * 1`,
    `len([a, b])`, conditions on None of what cannot be None.

    Args:
        graph: changed.
        disable_shape_peepholes: leaves what follows from dtypes and sizes.

    Returns: whether there was any.
    """
    with rewriting(graph):
        changed = Idioms(graph).run()
        changed = _Peephole(graph, not disable_shape_peepholes).run() or changed
        return unneeded(graph) or changed


def list_idioms(graph, refine_list_len: bool = False) -> bool:
    """Reads elements and lengths of lists off where the lists are made.

    Args:
        graph: changed.
        refine_list_len: also takes lengths from comparisons that guard a
            branch.
    """
    from .refining import lengths

    with rewriting(graph):
        changed = Idioms(graph).run()
        if refine_list_len:
            changed = lengths(graph) or changed
        return unneeded(graph) or changed


class _Peephole:
    def __init__(self, graph, shapes: bool) -> None:
        self._graph, self._shapes = graph, shapes
        self._aliases = Aliases(graph)
        self._written = {
            self._aliases.of(value)
            for node in graph._all_nodes()
            for value in written(node)
        }
        self._moved: set[int] = set()

    def run(self) -> bool:
        return self._block(self._graph.block())

    def _block(self, block) -> bool:
        changed = False
        for node in list(block._nodes):
            for inner in node._blocks:
                changed = self._block(inner) or changed
            changed = self._node(node) or changed
        return changed

    def _node(self, node) -> bool:
        if node.kind() == "prim::If":
            return self._if(node)
        if len(node._outputs) != 1 or not node._outputs[0].uses():
            return False
        for rule in (self._same_value, self._numbers, self._tensors, self._facts):
            new = rule(node)
            if new is None:
                continue
            if not hasattr(new, "_node"):
                new = constant_before(node, new[0], node._outputs[0]._type)
            replace(node._outputs[0], new)
            return True
        return False

    # --- rules: a value, a constant in a tuple, or None ---

    def _same_value(self, node):
        kind = node.kind()
        if kind in _CASTS and node._inputs:
            value = node._inputs[0]
            wanted = _CASTS[kind]
            if wanted is not None:
                return value if isinstance(value.type(), wanted) else None
            return value if value.type() == node._outputs[0].type() else None
        if kind in ("aten::eq", "aten::ne"):
            a, b = node._inputs
            plain = (IntType, BoolType)
            if a is b and isinstance(a.type(), (*plain, ListType)):
                return (kind == "aten::eq",)
        if kind in ("aten::__is__", "aten::__isnot__"):
            return self._is_none(node)
        if kind == "aten::__not__":
            return self._opposite(node)
        return None

    def _is_none(self, node):
        a, b = node._inputs
        if a.node().mustBeNone():
            a, b = b, a
        if not b.node().mustBeNone():
            return None
        is_none = node.kind() == "aten::__is__"
        if a.node().mustBeNone() or isinstance(a.type(), NoneType):
            return (is_none,)
        known = (BoolType, DictType, FloatType, IntType, ListType, TensorType)
        return (not is_none,) if isinstance(a.type(), known) else None

    def _opposite(self, node):
        inner = node._inputs[0].node()
        other = {"aten::eq": "aten::ne", "aten::ne": "aten::eq"}
        other |= {"aten::__is__": "aten::__isnot__", "aten::__isnot__": "aten::__is__"}
        if inner.kind() not in other or len(inner._outputs[0].uses()) > 1:
            return None
        inner._kind, inner._schema = other[inner.kind()], None
        return inner._outputs[0]

    def _numbers(self, node):
        neutral = _NEUTRAL.get(node.kind())
        if neutral is None or not isinstance(node._outputs[0].type(), IntType):
            return None
        a, b = node._inputs[:2]
        if b.toIValue() == neutral and isinstance(a.type(), IntType):
            return a
        if node.kind() in _BOTH_WAYS and a.toIValue() == neutral:
            return b if isinstance(b.type(), IntType) else None
        return None

    def _tensors(self, node):
        kind = node.kind()
        if kind in ("aten::t", "aten::neg", "aten::conj"):
            inner = node._inputs[0].node()
            quiet = self._is_quiet(node._outputs[0])
            if inner.kind() == kind and quiet and kind != "aten::neg":
                return inner._inputs[0]
            return None
        return self._neutral_tensor(node)

    def _neutral_tensor(self, node):
        """`x + 0`, `x * 1` and the like: a new tensor, which nobody may tell
        from x.
        """
        kind, out = node.kind(), node._outputs[0]
        neutral = {"aten::add": 0, "aten::sub": 0, "aten::mul": 1, "aten::div": 1}
        if kind not in neutral or not isinstance(out.type(), TensorType):
            return None
        x, number = node._inputs[:2]
        value = number.toIValue()
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        if value != neutral[kind] or not isinstance(x.type(), TensorType):
            return None
        if isinstance(value, float) or kind == "aten::div":
            dtype = x.type().dtype() if self._shapes else None
            if dtype is None or not (dtype.is_floating_point or dtype.is_complex):
                return None
        if {self._aliases.of(x), self._aliases.of(out)} & self._moved:
            return None
        if not self._is_quiet(x) or not self._is_quiet(out) or self._leaves(out):
            return None
        self._moved |= {self._aliases.of(x), self._aliases.of(out)}
        return x

    def _is_quiet(self, value) -> bool:
        return self._aliases.of(value) not in self._written

    def _leaves(self, value) -> bool:
        """True if the caller gets it."""
        number = self._aliases.of(value)
        return any(
            number in self._aliases.held_by(out) for out in self._graph.outputs()
        )

    def _facts(self, node):
        """Facts that the types of tensors tell."""
        kind = node.kind()
        if not node._inputs or not isinstance(node._inputs[0].type(), TensorType):
            if kind == "aten::len" and node._inputs:
                return self._length(node)
            return None
        type, value = node._inputs[0].type(), node._inputs[0]
        quiet = self._is_quiet(value)
        if not self._shapes or not quiet:
            return None
        if kind == "aten::dim" and type.dim() is not None:
            return (type.dim(),)
        if kind == "aten::size" and len(node._inputs) == 1 and type.sizes() is not None:
            return (type.sizes(),)
        if kind == "aten::is_floating_point" and type.dtype() is not None:
            return (type.dtype().is_floating_point,)
        if kind == "aten::is_complex" and type.dtype() is not None:
            return (type.dtype().is_complex,)
        if kind == "prim::device" and type.device() is not None:
            return (type.device(),)
        if kind == "prim::is_cuda" and type.device() is not None:
            return (type.device().type == "cuda",)
        if kind == "aten::type_as":
            return self._type_as(value, node._inputs[1])
        if kind == "aten::expand" and type.sizes() is not None:
            return value if node._inputs[1].toIValue() == type.sizes() else None
        return None

    def _type_as(self, value, other):
        a, b = value.type(), other.type()
        known = isinstance(b, TensorType) and a.dtype() is not None
        same = known and a.dtype() == b.dtype() and a.device() is not None
        return value if same and a.device() == b.device() else None

    def _length(self, node):
        made = node._inputs[0].node()
        if made.kind() != "aten::size" or len(made._inputs) != 1 or not self._shapes:
            return None
        type = made._inputs[0].type()
        if not self._is_quiet(node._inputs[0]) or not isinstance(type, TensorType):
            return None
        return None if type.dim() is None else (type.dim(),)

    def _if(self, node) -> bool:
        """`True if c else False` is c; types that both branches have."""
        changed = False
        for i, out in enumerate(node._outputs):
            gives = [b._return._inputs for b in node._blocks]
            if any(len(g) <= i for g in gives):
                continue
            a, b = gives[0][i], gives[1][i]
            values = a.toIValue(), b.toIValue()
            is_bool = all(isinstance(v, bool) for v in values)
            if is_bool and out.uses() and isinstance(out.type(), BoolType):
                if values == (True, False):
                    replace(out, node._inputs[0])
                    changed = True
            elif self._guarded(node, out, a, b):
                changed = True
            narrower = isinstance(out.type(), OptionalType) and a.type() == b.type()
            if narrower and not isinstance(a.type(), OptionalType):
                out._type = a.type()
                changed = True
        return changed

    def _guarded(self, node, out, a, b) -> bool:
        """`x and True` is x, `x or False` is x."""
        condition = node._inputs[0]
        if not isinstance(out.type(), BoolType) or not out.uses():
            return False
        for value, constant, wanted in ((a, b, False), (b, a, True)):
            same = value is condition and constant.toIValue() is wanted
            if same and _is_before(condition, node):
                replace(out, condition)
                return True
        return False


def removed(graph, kinds) -> bool:
    """Puts the first input in place of nodes of these kinds."""
    changed = False
    for node in list(graph._all_nodes()):
        if node.kind() in kinds:
            replace(node._outputs[0], node._inputs[0])
            remove(node)
            changed = True
    return changed
