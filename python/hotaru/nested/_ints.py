"""The sizes of ragged dimensions, by the offsets or lengths that say them."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import MutableMapping

from .._C import Tensor
from .._symbolic import SymInt
from ._internal.nested_int import NestedIntNode

_count = itertools.count(1)
# By the tensor's id, for as long as it lives: an attribute would be pickled.
_known: dict[int, tuple[weakref.ref, SymInt]] = {}


def of(source: Tensor) -> SymInt:
    """The size that belongs to these offsets or lengths."""
    found = _known.get(id(source))
    if found is None or found[0]() is not source:
        size = SymInt(NestedIntNode(next(_count), 1))
        return _remember(source, size)
    return found[1]


def share(source: Tensor, copy: Tensor) -> Tensor:
    """Makes a copy of offsets, on another device, stand for the same size."""
    _remember(copy, of(source))
    return copy


def _remember(source: Tensor, size: SymInt) -> SymInt:
    key = id(source)

    def forget(gone) -> None:
        if _known.get(key, (None,))[0] is gone:
            del _known[key]

    _known[key] = (weakref.ref(source, forget), size)
    return size


class Registry(MutableMapping):
    """The sizes by the tensors that say them, as a mapping.

    An entry ends with its tensor.
    """

    def __getitem__(self, source: Tensor) -> SymInt:
        found = _known.get(id(source))
        if found is None or found[0]() is not source:
            raise KeyError(source)
        return found[1]

    def __setitem__(self, source: Tensor, size: SymInt) -> None:
        _remember(source, size)

    def __delitem__(self, source: Tensor) -> None:
        self[source]
        del _known[id(source)]

    def __contains__(self, source) -> bool:
        found = _known.get(id(source))
        return found is not None and found[0]() is source

    def __iter__(self):
        return (x for ref, _ in list(_known.values()) if (x := ref()) is not None)

    def __len__(self) -> int:
        return len(_known)
