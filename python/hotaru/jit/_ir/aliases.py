"""Values of a graph that may share memory, and what writes to them."""

from __future__ import annotations

from ..._function_schema import parse_schema
from ..._types import DictType, ListType, TensorType, Type
from .schemas import schema_for

__all__ = [
    "PURE",
    "AliasDb",
    "Aliases",
    "has_effects",
    "is_random",
    "schema_of",
    "written",
]

# Kinds that make values of their inputs and do nothing else.
PURE = frozenset(
    (
        "prim::Constant",
        "prim::DictConstruct",
        "prim::GetAttr",
        "prim::ListConstruct",
        "prim::ListUnpack",
        "prim::NumToTensor",
        "prim::TupleConstruct",
        "prim::TupleIndex",
        "prim::TupleSlice",
        "prim::TupleUnpack",
        "prim::Uninitialized",
        "prim::CreateObject",
        "prim::device",
        "prim::dtype",
        "prim::isinstance",
        "prim::min",
        "prim::profile",
        "prim::max",
        "prim::requires_grad",
        "prim::unchecked_cast",
        "prim::unchecked_unwrap_optional",
    )
)
_IMMUTABLE = frozenset(
    ("int", "float", "bool", "str", "complex", "NoneType", "Device", "Scalar")
)
# Operators of lists and dicts whose first input changes.
_CHANGES = frozenset(
    f"aten::{name}"
    for name in [
        "_set_item",
        "append",
        "clear",
        "copy_",
        "Delete",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    ]
)
_RANDOM = frozenset(
    f"aten::{name}"
    for name in [
        "alpha_dropout",
        "bernoulli",
        "binomial",
        "dropout",
        "feature_alpha_dropout",
        "feature_dropout",
        "multinomial",
        "normal",
        "poisson",
        "rand",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "randperm",
        "rrelu",
    ]
)
_SCHEMAS: dict = {}


def schema_of(node):
    """The operator's signature, or None."""
    text = node._schema
    if text is None:
        text = node._schema = schema_for(node)
    if text is None:
        return None
    if text not in _SCHEMAS:
        _SCHEMAS[text] = parse_schema(text)
    return _SCHEMAS[text]


def written(node) -> list:
    """Inputs that the node writes to."""
    changes = node.kind() in _CHANGES or node.kind() == "prim::SetAttr"
    if changes and node._inputs:
        return node._inputs[:1]
    schema = schema_of(node) if node.kind().startswith("aten::") else None
    if schema is None:
        return []
    return [
        value
        for argument, value in zip(schema.arguments, node._inputs)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]


def is_random(node) -> bool:
    """True if two runs of the node give different values."""
    kind = node.kind()
    return kind in _RANDOM or kind.rstrip("_") in _RANDOM


def has_effects(node) -> bool:
    """True if the node does more than to make values and to change some."""
    kind = node.kind()
    if kind in PURE or kind == "prim::SetAttr":
        return False
    if kind in ("prim::If", "prim::Loop"):
        return any(has_effects(inner) for b in node.blocks() for inner in b.nodes())
    if kind == "aten::warn" or not kind.startswith("aten::"):
        return True
    return schema_of(node) is None and kind not in _CHANGES


def _is_immutable(type: Type) -> bool:
    return type.str().rstrip("?") in _IMMUTABLE


def _gives_views(node) -> bool:
    """True if an output may be or hold an input."""
    kind = node.kind()
    if kind in ("prim::NumToTensor", "prim::Constant", "aten::len", "aten::size"):
        return False
    if kind in PURE or kind in _CHANGES or not kind.startswith("aten::"):
        return True
    schema = schema_of(node)
    if schema is None:
        return True
    if any(r.alias_info is not None for r in schema.returns):
        return True
    # Containers' operators have no marks: an element may be what was put in.
    return any(isinstance(a.type, ListType) for a in schema.arguments[:1]) and any(
        not isinstance(r.type, TensorType) and not _is_immutable(r.type)
        for r in schema.returns
    )


_MADE = ("prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct")
_TAKEN = (
    "prim::ListUnpack",
    "prim::TupleIndex",
    "prim::TupleSlice",
    "prim::TupleUnpack",
)


class Aliases:
    """Classes of values that may share memory: two of different ones do not.

    What a list, tuple or dict holds is one class of its own. What comes from
    outside, parameters and attributes, is one class with all that it holds.
    """

    def __init__(self, graph) -> None:
        self._parents: dict[int, int] = {}
        self._contents: dict[int, int] = {}
        self._fresh = 0
        self._outside = 0
        self._contents[0] = 0
        # Results that are made to be given: what they hold stays apart.
        self._given = {
            id(value): value.node()._inputs
            for value in graph.outputs()
            if value.node().kind() in _MADE and len(value.uses()) == 1
        }
        for value in graph.inputs():
            self._join(id(value), self._outside)
        self._block(graph.block())

    def of(self, value) -> int:
        """The number of the value's class."""
        return self._root(id(value))

    def held_by(self, value) -> set[int]:
        """The numbers of the value's class and of those that it holds."""
        number, found = self.of(value), set()
        for inner in self._given.get(id(value), ()):
            found |= self.held_by(inner)
        while number not in found:
            found.add(number)
            inside = self._contents.get(number)
            if inside is None:
                break
            number = self._root(inside)
        return found

    def is_outside(self, value) -> bool:
        """True if others than the graph may hold the value."""
        return self.of(value) == self._root(self._outside)

    def _root(self, number: int) -> int:
        while (parent := self._parents.get(number, number)) != number:
            number = parent
        return number

    def _join(self, a: int, b: int) -> None:
        a, b = self._root(a), self._root(b)
        if a == b:
            return
        self._parents[a] = b
        mine, theirs = self._contents.pop(a, None), self._contents.get(b)
        if mine is not None and theirs is None:
            self._contents[b] = mine
        elif mine is not None:
            self._join(mine, theirs)

    def _content(self, value) -> int:
        """The class of what a container holds."""
        number = self.of(value)
        if number not in self._contents:
            self._fresh -= 1
            self._contents[number] = self._fresh
        return self._contents[number]

    def _join_values(self, *values) -> None:
        kept = [v for v in values if not _is_immutable(v.type())]
        for value in kept[1:]:
            self._join(id(value), id(kept[0]))

    def _block(self, block) -> None:
        for node in block.nodes():
            self._node(node)

    def _node(self, node) -> None:
        kind = node.kind()
        if kind == "prim::If":
            for inner in node.blocks():
                self._block(inner)
                for out, given in zip(node.outputs(), inner.outputs()):
                    self._join_values(out, given)
        elif kind == "prim::Loop":
            (body,) = node.blocks()
            self._block(body)
            params, gives = list(body.inputs())[1:], list(body.outputs())[1:]
            for four in zip(node._inputs[2:], params, gives, node.outputs()):
                self._join_values(*four)
        elif kind == "prim::GetAttr":
            self._take(node)
        elif kind == "prim::SetAttr":
            self._put(node._inputs[0], node._inputs[1:])
        elif kind == "prim::CreateObject" or self._is_given(node):
            pass
        elif kind in _MADE:
            self._put(node.output(), node._inputs)
        elif kind in _TAKEN:
            self._take(node)
        elif _gives_views(node):
            self._operator(node)

    def _is_given(self, node) -> bool:
        return node.kind() in _MADE and id(node.output()) in self._given

    def _put(self, container, values) -> None:
        for value in values:
            if not _is_immutable(value.type()):
                self._join(id(value), self._content(container))

    def _take(self, node, others=()) -> None:
        inside = self._content(node._inputs[0])
        for out in node.outputs():
            is_other = any(out is value for value in others)
            if not is_other and not _is_immutable(out.type()):
                self._join(id(out), inside)

    def _operator(self, node) -> None:
        first = node._inputs[0].type() if node._inputs else None
        if isinstance(first, (DictType, ListType)) and node.kind().startswith("aten::"):
            self._put(node._inputs[0], node._inputs[1:])
            for value in (*node._inputs[1:], *node.outputs()):
                if isinstance(value.type(), (DictType, ListType)):
                    self._join(self._content(value), self._content(node._inputs[0]))
            # Some that change a container give it, others what was in it.
            changes = node.kind() in _CHANGES
            itself = [o for o in node.outputs() if changes and o.type() == first]
            self._take(node, itself)
            self._join_values(node._inputs[0], *itself)
        else:
            self._join_values(*node.inputs(), *node.outputs())
        if has_effects(node):
            for value in (*node.inputs(), *node.outputs()):
                if not _is_immutable(value.type()):
                    self._join(id(value), self._outside)
                    self._join(self._content(value), self._outside)


def quiet_values(graph):
    """Tells of a value of the graph whether nothing writes what it may share."""
    aliases = Aliases(graph)
    changed = {
        aliases.of(value) for node in graph._all_nodes() for value in written(node)
    }
    return lambda value: aliases.of(value) not in changed


class AliasDb:
    """Questions about which values of a graph may share memory."""

    __module__ = "torch._C"

    def __init__(self, graph) -> None:
        self._graph, self._aliases = graph, Aliases(graph)
        self._written = {
            self._aliases.of(value)
            for node in graph._all_nodes()
            for value in written(node)
        }

    def may_contain_alias(self, a, b) -> bool:
        """True if one may be, or hold, what the other is or holds.

        Args:
            a: a value, or a list of them.
            b: the same.
        """

        def held(values):
            values = values if isinstance(values, (list, tuple)) else [values]
            kept = [v for v in values if not _is_immutable(v.type())]
            return set().union(*map(self._aliases.held_by, kept))

        return bool(held(a) & held(b))

    def has_writers(self, value) -> bool:
        """True if the graph may write to the value."""
        return self._aliases.of(value) in self._written

    def _classes(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for value in self._graph._values():
            if not _is_immutable(value.type()):
                found.setdefault(self._aliases.of(value), []).append(value.debugName())
        return found

    def _names(self) -> list[tuple[str, list[str]]]:
        outside = self._aliases._root(0)
        rows = [("WILDCARD", self._classes().pop(outside, []))]
        return rows + [
            (str(i), names)
            for i, (number, names) in enumerate(self._classes().items())
            if number != outside
        ]

    def __str__(self) -> str:
        lines = [f"{name}: {', '.join(v)}" for name, v in self._names()]
        return "\n".join(["===Alias classes===", *lines, ""])

    def to_graphviz_str(self) -> str:
        """The classes as a graph of graphviz: values point to their class."""
        lines = [
            f'  "{value}" -> "class {name}"'
            for name, values in self._names()
            for value in values
        ]
        return "\n".join(["digraph alias_db {", *lines, "}", ""])
