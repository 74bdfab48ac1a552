"""Dictionaries whose keys are objects, not what those are equal to."""

from __future__ import annotations

import weakref
from collections.abc import MutableMapping

from .. import _C

__all__ = [
    "TensorWeakRef",
    "WeakIdKeyDictionary",
    "WeakIdRef",
    "WeakTensorKeyDictionary",
]


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to others of the same object."""

    __slots__ = ("_id",)

    def __init__(self, key, callback=None) -> None:
        super().__init__(key, callback)
        self._id = id(key)

    def __call__(self):
        return super().__call__()

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other) -> bool:
        mine, theirs = self(), other()
        if mine is None or theirs is None:
            return self is other
        return mine is theirs


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary by the identity of keys; entries go with their keys.

    A tensor is a key as long as a program has its object.
    """

    def __init__(self, dict=None, ref_type=WeakIdRef) -> None:
        self.data = {}
        self.ref_type = ref_type
        if dict is not None:
            self.update(dict)

    def _forget(self, ref) -> None:
        self.data.pop(ref, None)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value) -> None:
        data = weakref.ref(self)

        def gone(ref) -> None:
            mine = data()
            if mine is not None:
                mine._forget(ref)

        ref = self.ref_type(key)
        if ref not in self.data:
            ref = self.ref_type(key, gone)
        self.data[ref] = value

    def __delitem__(self, key) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # no weak references to these
            return False

    def __iter__(self):
        for ref in list(self.data):
            key = ref()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return sum(ref() is not None for ref in list(self.data))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __copy__(self):
        return type(self)(self, self.ref_type)

    copy = __copy__

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def __eq__(self, other) -> bool:
        if not isinstance(other, MutableMapping):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {
            id(k): v for k, v in other.items()
        }

    __hash__ = None

    def keyrefs(self) -> list:
        """The references to the keys, which may be gone by now."""
        return list(self.data)


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor, `ref()`; None when it is gone."""

    def __init__(self, tensor: _C.Tensor) -> None:
        if not isinstance(tensor, _C.Tensor):
            raise AssertionError(f"no tensor, but {type(tensor)}")
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()
