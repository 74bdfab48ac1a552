"""The arguments of a call as a capture sees them.

A captured function gets the caller's own lists, dictionaries and dataclasses,
so that it finds their classes, attributes and identity; while it runs they hold
the graph's tensors in place of the caller's. What it changes in them no replay
would, which is found when it is done.
"""

from __future__ import annotations

from .. import Tensor
from . import _state
from ._surroundings.raw import (
    attributes_of,
    fill,
    items_of,
    pairs_of,
    put_attributes,
    tuple_of,
)

_CHANGES = "the call changes {}, an argument; no graph can do that"


class Given:
    """Arguments with the tensors of a capture for the time of a `with` block.

    Args:
        args, kwargs: of the caller.
        nests: the containers among them (:class:`_tree.Met`).
        leaves, statics: their tensors, and those that stand for them.
    """

    def __init__(self, args, kwargs, nests: list, leaves, statics) -> None:
        self._stand_in = {id(a): b for a, b in zip(leaves, statics)}
        self._changes = any(a is not b for a, b in zip(leaves, statics))
        self._nests = [n for n in nests if not isinstance(n, tuple)]
        self._copies: dict[int, tuple] = {}
        self.args = self._replaced(args)
        self.kwargs = {k: self._replaced(v) for k, v in kwargs.items()}

    def __enter__(self) -> Given:
        self._before = [_Content(nest) for nest in self._nests]
        if self._changes:
            for content in self._before:
                content.put(self._replaced)
        self._inside = [_Content(nest) for nest in self._nests]
        return self

    @property
    def copies(self) -> list[tuple]:
        """Each tuple that the function gets for one of the caller's, and that
        one.
        """
        return list(self._copies.values())

    def check(self) -> None:
        """StateError if a container holds other things than before."""
        for nest, content in zip(self._nests, self._inside):
            if content.changed():
                name = type(nest).__name__
                raise _state.UnfitError(_CHANGES.format(f"a {name}"))

    def __exit__(self, *exception) -> None:
        for before, inside in zip(self._before, self._inside):
            if self._changes or inside.changed():
                before.put(lambda value: value)

    def _replaced(self, value):
        """A value with the capture's tensors, of tuples a copy: the same one
        wherever a tuple is met again.
        """
        if isinstance(value, Tensor):
            return self._stand_in.get(id(value), value)
        if not isinstance(value, tuple):
            return value
        if id(value) in self._copies:
            return self._copies[id(value)][0]
        items = items_of(value)
        replaced = [self._replaced(item) for item in items]
        if all(a is b for a, b in zip(items, replaced)):
            return value
        made = tuple_of(type(value), replaced)
        put_attributes(made, attributes_of(value))
        self._copies[id(value)] = (made, value)
        return made


class _Content:
    """Remembers what a container holds at a time, and its attributes."""

    def __init__(self, container) -> None:
        self._container = container
        self._held = _held(container)
        self._attributes = _attributes(container)

    def changed(self) -> bool:
        return not (
            _same(self._held, _held(self._container))
            and _same(self._attributes, _attributes(self._container))
        )

    def put(self, change) -> None:
        """Has the container hold it again, each value as `change` has it."""
        container = self._container
        held = [(key, change(value)) for key, value in self._held]
        if isinstance(container, dict):
            fill(container, held)
        elif isinstance(container, list):
            fill(container, [value for _, value in held])
        kept = dict(self._attributes)
        own = getattr(container, "__dict__", {})
        for name in [name for name in own if name not in kept]:
            del own[name]
        put_attributes(container, [(n, change(v)) for n, v in kept.items()])


def _attributes(container) -> list[tuple]:
    return [] if type(container) in (list, dict) else attributes_of(container)


def _held(container) -> list[tuple]:
    if isinstance(container, dict):
        return pairs_of(container)
    if isinstance(container, list):
        return list(enumerate(items_of(container)))
    return []


def _same(a: list[tuple], b: list[tuple]) -> bool:
    return len(a) == len(b) and all(x[0] == y[0] and x[1] is y[1] for x, y in zip(a, b))
