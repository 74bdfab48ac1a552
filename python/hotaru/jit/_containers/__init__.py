"""Lists and dicts that Python and compiled code share: `script([1, 2])`.

A plain list is copied when a compiled function takes it; these are not, so that
what the function changes is seen outside.
"""

from __future__ import annotations

from collections.abc import MutableMapping, MutableSequence

from ... import _C


class ScriptList(_C._ScriptContainer):
    """A list of elements of one type.

    Methods are those of lists; TypeError for elements of another type.
    """

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        return self._at(self._place(index))

    def __setitem__(self, index, value) -> None:
        if not isinstance(index, slice):
            self._put(self._place(index), value)
            return
        places = range(*index.indices(len(self)))
        values = list(value)
        if len(values) != len(places):
            raise RuntimeError(
                "Left and right hand size of slice assignment have different sizes"
            )
        for i, item in zip(places, values):
            self._put(i, item)

    def __delitem__(self, index) -> None:
        self._remove(self._place(index))

    def insert(self, index: int, value) -> None:
        """Puts the value before the element at `index`."""
        size = len(self)
        self._insert(max(0, index + size) if index < 0 else index, value)

    def remove(self, value) -> None:
        """Takes the first element out that is equal to the value."""
        self._fits(value)
        del self[self.index(value)]

    def __contains__(self, value) -> bool:
        self._fits(value)
        return any(item == value for item in self)

    def count(self, value) -> int:
        """How many elements are equal to the value."""
        self._fits(value)
        return sum(1 for item in self if item == value)

    def copy(self) -> ScriptList:
        """Another list of the same elements."""
        return ScriptList(self._type, list(self))

    def _place(self, index: int) -> int:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError("list index out of range")
        return place

    def __repr__(self) -> str:
        return repr(list(self))

    def __eq__(self, other) -> bool:
        if not isinstance(other, (list, ScriptList)):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None


class ScriptDict(_C._ScriptContainer):
    """A dict whose keys are of one type, and its values.

    Methods are those of dicts; TypeError for keys and values of other types.
    """

    def __getitem__(self, key):
        # A key of another type is one that is not there.
        found = self._find(key) if self._takes(key) else ()
        if not found:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key, value) -> None:
        self._set(key, value)

    def __delitem__(self, key) -> None:
        if not self._erase(key):
            raise KeyError(key)

    def __contains__(self, key) -> bool:
        """KeyError for keys of another type."""
        if not self._takes(key):
            raise KeyError(key)
        return bool(self._find(key))

    def __iter__(self):
        return iter(self._keys())

    def _takes(self, key) -> bool:
        try:
            self._find(key)
        except TypeError:
            return False
        return True

    def __repr__(self) -> str:
        return repr(dict(self.items()))

    def __eq__(self, other) -> bool:
        if not isinstance(other, (dict, ScriptDict)):
            return NotImplemented
        return dict(self.items()) == dict(other.items())

    __hash__ = None


# The rest of a list's and a dict's methods, by those above.
_LIST = (
    "__iter__",
    "__reversed__",
    "index",
    "append",
    "clear",
    "reverse",
    "extend",
    "pop",
    "__iadd__",
)
_DICT = (
    "keys",
    "items",
    "values",
    "get",
    "pop",
    "popitem",
    "clear",
    "update",
    "setdefault",
)


def _add_methods(cls: type, base: type, names: tuple) -> None:
    for name in names:
        home = next(home for home in base.__mro__ if name in vars(home))
        setattr(cls, name, vars(home)[name])
    base.register(cls)


_add_methods(ScriptList, MutableSequence, _LIST)
_add_methods(ScriptDict, MutableMapping, _DICT)
_C.ScriptList, _C.ScriptDict = ScriptList, ScriptDict


def container(value, unit):
    """A list or dict as one that compiled code shares.

    TypeError: its elements are not of one type.
    """
    type_ = unit.type_of(value)
    if type_ is None:
        raise TypeError(
            f"script: the elements of this {type(value).__name__} are not of "
            "one type that compiled code knows"
        )
    return (ScriptList if isinstance(value, list) else ScriptDict)(type_, value)
