"""The sizes of ragged dimensions, by the offsets or lengths that say them."""

from __future__ import annotations

import itertools

from .._C import Tensor
from .._symint import SymInt
from ._internal.nested_int import NestedIntNode

_count = itertools.count(1)


def of(source: Tensor) -> SymInt:
    """The size that belongs to these offsets or lengths."""
    found = source.__dict__.get("_nested_int")
    if found is None:
        found = source._nested_int = SymInt(NestedIntNode(next(_count), 1))
    return found


def share(source: Tensor, copy: Tensor) -> Tensor:
    """Makes a copy of offsets, on another device, stand for the same size."""
    copy._nested_int = of(source)
    return copy
