"""Ranges of the values that a size may have."""

from __future__ import annotations

import math
import typing

from .numbers import NegativeIntInfinity, int_oo

__all__ = ["ValueRangeError", "ValueRanges"]


class ValueRangeError(RuntimeError):
    """A range whose lower bound is above its upper one."""


class _Bounds(typing.NamedTuple):
    lower: int | float
    upper: int | float


class ValueRanges(_Bounds):
    """The whole numbers from `lower` to `upper`, both included.

    Infinite bounds are `-int_oo` and `int_oo`, whichever infinity was given.

    Raises ValueRangeError where there are none between.
    """

    __slots__ = ()

    def __new__(cls, lower, upper):
        lower = NegativeIntInfinity() if lower == -math.inf else lower
        upper = int_oo if upper == math.inf else upper
        if lower > upper:
            raise ValueRangeError(f"Invalid ranges [{lower}:{upper}]")
        return super().__new__(cls, lower, upper)

    def __contains__(self, x) -> bool:
        if isinstance(x, ValueRanges):
            return self.lower <= x.lower and x.upper <= self.upper
        return bool(self.lower <= x <= self.upper)

    def issuperset(self, other: ValueRanges) -> bool:
        """Tells whether the other's numbers are all of this range."""
        return other in self

    def is_singleton(self) -> bool:
        """Tells whether there is one number."""
        return self.lower == self.upper

    def __and__(self, other: ValueRanges) -> ValueRanges:
        """The numbers of both."""
        return ValueRanges(max(self.lower, other.lower), min(self.upper, other.upper))

    def __or__(self, other: ValueRanges) -> ValueRanges:
        """The range around both."""
        return ValueRanges(min(self.lower, other.lower), max(self.upper, other.upper))

    @classmethod
    def unknown_int(cls) -> ValueRanges:
        """All whole numbers."""
        return cls(-int_oo, int_oo)

    def __repr__(self) -> str:
        return f"VR[{self.lower}, {self.upper}]"
