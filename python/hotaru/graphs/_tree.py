"""Nested arguments and results: their tensors, and what else they are.

A specification says how a value is made of leaves: equal for values of the
same form, and usable as a key. Tensors are leaves; everything else that is no
container is a constant, part of the form. Of containers their class counts,
what they hold, their attributes, and which of them are the same object.

Containers are read and filled by what their built-in base does, not by methods
of their class, which may refuse or answer something else.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict

from .. import Tensor
from .._trees.nodes import KINDS
from ._surroundings.raw import (
    attributes_of,
    fill,
    is_struct,
    items_of,
    only_attributes,
    pairs_of,
    put_attributes,
    tuple_of,
)

TENSOR = ("tensor",)
_EXACT = frozenset((tuple, list, dict))
_SIMPLE = frozenset((type(None), bool, int, str, bytes, type))


class Met:
    """The containers of a value, in the order in which they are met.

    Args:
        known: objects by id whose identity counts, too, as
            :attr:`_reach.Reach.seen`.
        given: of a result, the containers of the arguments; these and known
            ones are themselves in each call's.
        copies: pairs of what the function got in place of one of `given`, and
            that one.
    """

    def __init__(
        self, known=None, given: Met | None = None, copies: list | tuple = ()
    ) -> None:
        self.nests: list = []
        self._known = known or {}
        self._keeps = given is not None
        self._places: dict[int, int] = {}
        self._given = dict(given._places) if given is not None else {}
        for copy, original in copies:
            if id(original) in self._given:
                self._given[id(copy)] = self._given[id(original)]

    def again(self, value) -> tuple | None:
        """The form of a container that was met before; None for a new one,
        which is noted.
        """
        key, count = id(value), len(self.nests)
        if self._keeps:
            if key in self._given:
                return ("given", type(value), self._given[key])
            if key in self._known:
                return ("kept", type(value), _Identity(value))
        place = self._places.setdefault(key, count)
        if place < count:
            return ("again", type(value), place)
        self.nests.append(value)
        return None

    def identity(self, value):
        """Tells a container from others that are alike; None: nothing does."""
        return _Identity(value) if id(value) in self._known else None


def flatten(value, leaves: list, met: Met | None = None) -> tuple:
    """Appends the tensors of a value to `leaves`; returns its form."""
    return _flatten(value, leaves, Met() if met is None else met)


def _flatten(value, leaves: list, met: Met) -> tuple:
    if isinstance(value, Tensor):
        leaves.append(value)
        return TENSOR
    kind = type(value)
    exact = kind in _EXACT
    if exact:
        what = "dict" if kind is dict else "list"
    elif kind is float:
        # Equal where the bits are: zeros have signs, and NaN equals itself.
        return ("float", kind, value.hex())
    elif kind is complex:
        # A kind of its own: native keys compare by value alone.
        return ("complex", kind, (value.real.hex(), value.imag.hex()))
    elif kind in _SIMPLE:
        return ("constant", kind, value)
    elif isinstance(value, (tuple, list)):
        if is_struct(kind) and "__new__" not in vars(kind):
            # There is one object of the class alone (`sys.flags`).
            return ("constant", kind, value)
        what = "list"
    elif isinstance(value, dict):
        what = "dict"
    elif isinstance(value, type):
        return ("object", kind, _Same(value))
    elif dataclasses.is_dataclass(value) or (
        # Nodes that somebody registered are their attributes, too.
        kind in KINDS and only_attributes(kind)
    ):
        what = "fields"
    else:
        return ("object", kind, _Same(value))
    again = met.again(value)
    if again is not None:
        return again
    if what == "list":
        items = value if exact else items_of(value)
        content = tuple([_flatten(v, leaves, met) for v in items])
    elif what == "dict":
        pairs = value.items() if exact else pairs_of(value)
        content = tuple(
            [
                (k if type(k) is str else _Key(k), _flatten(v, leaves, met))
                for k, v in pairs
            ]
        )
    else:
        content = _attributes(value, leaves, met)
    identity = met.identity(value)
    if exact and identity is None:
        return (what, kind, content)
    more = ()
    if what != "fields" and not exact:
        more = _attributes(value, leaves, met)
    if isinstance(value, defaultdict):
        more = (*more, _Same(value.default_factory))
    if more or identity is not None:
        return (what, kind, content, more, identity)
    return (what, kind, content)


def _attributes(value, leaves: list, met: Met) -> tuple:
    return tuple((name, _flatten(v, leaves, met)) for name, v in attributes_of(value))


class _Same:
    """Equal to nothing but a value that is equal, or the same object."""

    def __init__(self, value) -> None:
        self.value = value

    def __eq__(self, other) -> bool:
        if not isinstance(other, _Same):
            return NotImplemented
        if self.value is other.value:
            return True
        try:
            return bool(self.value == other.value)
        except Exception:
            return False

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:
            return id(self.value)


class _Key:
    """Equal for keys that are equal and alike: 1 is not True, 0.0 not -0.0."""

    def __init__(self, value) -> None:
        self.value = value
        self._parts = _exactly(value)

    def __eq__(self, other) -> bool:
        return isinstance(other, _Key) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


def _exactly(value) -> tuple:
    kind = type(value)
    if kind is float:
        return (kind, value.hex())
    if kind is complex:
        return (kind, value.real.hex(), value.imag.hex())
    if isinstance(value, tuple):
        return (kind, *map(_exactly, value))
    return (kind, value)


class _Identity:
    """Equal for the same object alone."""

    def __init__(self, value) -> None:
        self.value = value

    def __eq__(self, other) -> bool:
        return isinstance(other, _Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def rebuild(form: tuple, leaves, given: list | tuple = ()):
    """The value of that form whose tensors an iterator gives; `given` are the
    containers that a form of :class:`Met` takes from elsewhere.
    """
    return _rebuild(form, leaves, given, [])


def _rebuild(form: tuple, leaves, given, made: list):
    what = form[0]
    if what == "tensor":
        return next(leaves)
    kind, content = form[1], form[2]
    if what == "constant":
        return content
    if what == "float":
        return float.fromhex(content)
    if what == "complex":
        return complex(*map(float.fromhex, content))
    if what == "object":
        return content.value
    if what == "given":
        return given[content]
    if what == "kept":
        return content.value
    if what == "again":
        if made[content] is None:
            raise TypeError("a tuple that holds itself cannot be made anew")
        return made[content]
    place = len(made)
    made.append(None)
    if issubclass(kind, tuple):
        items = [_rebuild(item, leaves, given, made) for item in content]
        value = made[place] = tuple_of(kind, items)
    elif what == "list":
        value = made[place] = kind.__new__(kind)
        fill(value, [_rebuild(item, leaves, given, made) for item in content])
    elif what == "fields":
        value = made[place] = object.__new__(kind)
        put_attributes(value, _pairs(content, leaves, given, made))
    else:
        value = made[place] = kind.__new__(kind)
        fill(value, _pairs(content, leaves, given, made))
    more = form[3] if len(form) > 3 else ()
    if more and isinstance(more[-1], _Same):
        value.default_factory = more[-1].value
        more = more[:-1]
    if more:
        put_attributes(value, _pairs(more, leaves, given, made))
    return value


def _pairs(content: tuple, leaves, given, made: list) -> list:
    return [
        (k.value if type(k) is _Key else k, _rebuild(item, leaves, given, made))
        for k, item in content
    ]


def objects(form: tuple):
    """The constants of a form that are neither numbers, text nor types."""
    what = form[0]
    if what == "object":
        yield form[2].value
    elif what in ("list", "dict", "fields"):
        for item in form[2]:
            yield from objects(item if what == "list" else item[1])
        for item in form[3] if len(form) > 3 else ():
            if isinstance(item, tuple):
                yield from objects(item[1])


def describe(form: tuple, leaves) -> str:
    """For people: shapes and dtypes where tensors are."""
    what = form[0]
    if what == "tensor":
        tensor = next(leaves)
        text = f"{str(tensor.dtype).rpartition('.')[2]}{list(tensor.shape)}"
        return text + (" requires_grad" if tensor.requires_grad else "")
    kind, content = form[1], form[2]
    if what == "constant":
        return repr(content)
    if what == "float":
        return repr(float.fromhex(content))
    if what == "complex":
        return repr(complex(*map(float.fromhex, content)))
    if what == "object":
        return repr(content.value)
    if what in ("given", "again", "kept"):
        return f"{kind.__name__}(...)"
    if what == "list":
        inner = ", ".join(describe(item, leaves) for item in content)
        if kind is tuple:
            return f"({inner},)" if len(content) == 1 else f"({inner})"
        return f"[{inner}]" if kind is list else f"{kind.__name__}({inner})"
    inner = ", ".join(f"{k}={describe(item, leaves)}" for k, item in content)
    return f"{kind.__name__}({inner})"
