"""Nested containers of leaves: what transforms take, return and compare.

Nodes are tuples (named ones and those that operators return, too), lists,
deques, dictionaries and what `register_pytree_node` adds; all else is a leaf,
None as well. A `Structure` prints as PyTorch's `TreeSpec` does, since errors
show it.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass

from .nodes import KINDS

_MAPPINGS = (dict, OrderedDict, defaultdict)


@dataclass(frozen=True)
class Structure:
    """The shape of a nest; `kind` is None for a leaf.

    `context` is what else makes a node: a defaultdict's factory, what a
    registered class's `flatten_fn` gave.
    """

    kind: type | None = None
    keys: tuple = ()
    children: tuple[Structure, ...] = ()
    context: object = None

    @property
    def leaves(self) -> int:
        """How many leaves the nest has."""
        if self.kind is None:
            return 1
        return sum(child.leaves for child in self.children)

    def _label(self) -> tuple[str, str]:
        kind, keys = self.kind, list(self.keys)
        if kind is defaultdict:
            return "defaultdict", f"[{self.context}, {keys}]"
        if kind in _MAPPINGS:
            return kind.__name__, str(keys)
        if hasattr(kind, "_fields"):
            return "namedtuple", str(kind)
        return kind.__name__, str(self.context)

    def __str__(self) -> str:
        return self._text(0)

    def _text(self, indent: int) -> str:
        if self.kind is None:
            return "*"
        name, context = self._label()
        inner = (",\n" + " " * (indent + 2)).join(
            child._text(indent + 2) for child in self.children
        )
        return f"TreeSpec({name}, {context}, [{inner}])"


LEAF = Structure()


def _is_known(value) -> bool:
    return type(value) in (*_MAPPINGS, list, deque) or isinstance(value, tuple)


def _is_node(value) -> bool:
    return type(value) in KINDS or isinstance(value, tuple)


def _children(value) -> tuple[list, object]:
    """Takes a node apart: what it consists of, and its context."""
    if not _is_known(value):
        children, context = KINDS[type(value)].flatten_fn(value)
        return list(children), context
    context = getattr(value, "default_factory", None)
    return list(value.values() if isinstance(value, dict) else value), context


def flatten(value, is_leaf=None) -> tuple[list, Structure]:
    """The leaves of a nest, from left to right, and its structure.

    A node of which `is_leaf` says so is a leaf, too.
    """
    leaves: list = []
    return leaves, _gather(value, leaves, is_leaf)


def _gather(value, leaves: list, is_leaf) -> Structure:
    if not _is_node(value) or (is_leaf is not None and is_leaf(value)):
        leaves.append(value)
        return LEAF
    parts, context = _children(value)
    children = tuple(_gather(child, leaves, is_leaf) for child in parts)
    keys = tuple(value) if isinstance(value, dict) else ()
    return Structure(type(value), keys, children, context)


def unflatten(leaves, structure: Structure):
    """The nest of this structure with these leaves."""
    return _build(iter(leaves), structure)


def _build(leaves, structure: Structure):
    kind = structure.kind
    if kind is None:
        return next(leaves)
    children = [_build(leaves, child) for child in structure.children]
    if kind is defaultdict:
        return kind(structure.context, zip(structure.keys, children))
    if kind in _MAPPINGS:
        return kind(zip(structure.keys, children))
    if hasattr(kind, "_fields"):
        return kind(*children)
    if kind in (list, deque) or issubclass(kind, tuple):
        return kind(children)
    return KINDS[kind].unflatten_fn(children, structure.context)


def mapped(function, value):
    """The nest with `function` applied to each leaf."""
    leaves, structure = flatten(value)
    return unflatten([function(leaf) for leaf in leaves], structure)


def spread(prefix, structure: Structure) -> list | None:
    """One leaf of `prefix` for each of `structure`'s; None if they do not fit.

    A leaf of `prefix` counts for all that stands in its place.
    """
    found: list = []
    return found if _spread(prefix, structure, found) else None


def _spread(prefix, structure: Structure, found: list) -> bool:
    if not _is_node(prefix):
        found.extend([prefix] * structure.leaves)
        return True
    if structure.kind is not type(prefix):
        return False
    if isinstance(prefix, dict):
        if set(prefix) != set(structure.keys):
            return False
        children = [prefix[key] for key in structure.keys]
    else:
        children = _children(prefix)[0]
    return len(children) == len(structure.children) and all(
        _spread(child, part, found) for child, part in zip(children, structure.children)
    )


def short(structure: Structure) -> str:
    """The structure as the nest itself would print, with `*` as leaves."""

    class Star:
        def __repr__(self) -> str:
            return "*"

    return repr(unflatten([Star()] * structure.leaves, structure))
