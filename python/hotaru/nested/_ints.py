"""Sizes that differ from element to element."""

from __future__ import annotations

import itertools

from .._C import Tensor

_count = itertools.count(1)
# No memory is that large: whoever takes it for a number gets an error.
_VALUE = 1 << 60


class NestedInt(int):
    """The size of a ragged dimension: equal to itself alone, at least 2 in
    comparisons, and a factor of products. It has no number.
    """

    def __new__(cls, ident: int, factor: int = 1):
        made = int.__new__(cls, _VALUE)
        made.ident, made.factor = ident, factor
        return made

    def __eq__(self, other) -> bool:
        return (
            isinstance(other, NestedInt)
            and self.ident == other.ident
            and self.factor == other.factor
        )

    def __ne__(self, other) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.ident, self.factor))

    def __ge__(self, other) -> bool:
        if isinstance(other, NestedInt):
            if self.ident == other.ident:
                return self.factor >= other.factor
        elif other <= 2:
            return True
        raise ValueError("ge: relation is indeterminate")

    def __gt__(self, other) -> bool:
        return not self <= other

    def __lt__(self, other) -> bool:
        return not self >= other

    def __le__(self, other) -> bool:
        if isinstance(other, NestedInt):
            return other >= self
        if other < 2:
            return False
        raise ValueError("ge: relation is indeterminate")

    def __mul__(self, other):
        if isinstance(other, NestedInt):
            raise ValueError("mul: products of two nested ints are unknown")
        return NestedInt(self.ident, self.factor * int(other))

    __rmul__ = __mul__

    def __str__(self) -> str:
        factor = "" if self.factor == 1 else f"{self.factor}*"
        return f"{factor}j{self.ident}"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self):
        raise TypeError("a nested int is of one process")


def _unknown(name: str):
    def method(self, *args):
        raise AttributeError(f"nested ints have no '{name}': no number is known")

    return method


for _name in ["__add__", "__radd__", "__sub__", "__rsub__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__truediv__", "__rtruediv__", "__int__", "__float__", "__neg__", "__pow__"]:
    setattr(NestedInt, _name, _unknown(_name.strip("_")))


def of(source: Tensor) -> NestedInt:
    """The size that belongs to these offsets or lengths."""
    found = source.__dict__.get("_nested_int")
    if found is None:
        found = source._nested_int = NestedInt(next(_count))
    return found


def share(source: Tensor, copy: Tensor) -> Tensor:
    """Makes a copy of offsets, on another device, stand for the same size."""
    copy._nested_int = of(source)
    return copy
