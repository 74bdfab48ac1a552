"""Containers and objects as they are, whatever methods their classes have."""

from __future__ import annotations

from collections import OrderedDict, deque

_BASES = (OrderedDict, dict, list, tuple, deque, set, frozenset)


def base_of(container) -> type:
    """The built-in class whose methods say what a container holds."""
    return next(base for base in _BASES if isinstance(container, base))


def items_of(container) -> list:
    """Items that a list, tuple, deque or set holds."""
    items = list(base_of(container).__iter__(container))
    if is_struct(type(container)):
        # Some have more fields than they count as tuples.
        items += container.__reduce__()[1][1].values()
    return items


def is_struct(kind: type) -> bool:
    """True if it is one of the interpreter's tuples with names, such as the
    results of operators and `time.struct_time`.
    """
    return issubclass(kind, tuple) and hasattr(kind, "n_sequence_fields")


def tuple_of(kind: type, items: list) -> tuple:
    """A tuple of that class that holds what `items_of` gave."""
    # Nothing but their own class can make those.
    return kind(items) if is_struct(kind) else tuple.__new__(kind, items)


def pairs_of(container: dict) -> list[tuple]:
    """Keys and values of a dictionary, in order."""
    return list(base_of(container).items(container))


def fill(container, content: list) -> None:
    """Makes `content`, items or pairs, what a container holds."""
    base = base_of(container)
    if base is list:
        list.__setitem__(container, slice(None), content)
        return
    if base is deque:
        deque.clear(container)
        deque.extend(container, content)
        return
    if base is set:
        set.clear(container)
        set.update(container, content)
        return
    base.clear(container)
    for key, value in content:
        base.__setitem__(container, key, value)


def slots_of(kind: type) -> dict[str, object]:
    """Descriptors of the slots of a class and its bases, by the name that
    attributes have.
    """
    found = {}
    for base in reversed(kind.__mro__):
        if "__slots__" in vars(base):
            members = vars(base).items()
            found.update((n, m) for n, m in members if type(m) is _MEMBER)
    return found


class _Sample:
    __slots__ = ("a",)


_MEMBER = type(vars(_Sample)["a"])


def attributes_of(value) -> list[tuple[str, object]]:
    """An object's own attributes: of its `__dict__` and in its slots."""
    kind = type(value)
    found = []
    for name, member in slots_of(kind).items() if has_slots(kind) else ():
        try:
            found.append((name, member.__get__(value)))
        except AttributeError:  # none is there yet
            continue
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict):
        found += pairs_of(own)
    return found


def only_attributes(kind: type) -> bool:
    """True if objects of the class hold nothing but attributes: it and its
    bases are written in Python, down to `object`.
    """
    parts = len(slots_of(kind)) if has_slots(kind) else 0
    parts += (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__basicsize__ == object.__basicsize__ + parts * tuple.__itemsize__


def has_slots(kind: type) -> bool:
    """True if objects of the class have attributes in slots."""
    return any(vars(base).get("__slots__") for base in kind.__mro__)


def put_attributes(value, pairs: list[tuple[str, object]]) -> None:
    """Sets attributes, past properties and what a class does with them."""
    slots = slots_of(type(value)) if has_slots(type(value)) else {}
    for name, item in pairs:
        if name in slots:
            slots[name].__set__(value, item)
        else:
            value.__dict__[name] = item
