"""The sizes of ragged dimensions, by the offsets or lengths that say them."""

from __future__ import annotations

import itertools
import weakref

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
