"""Infinity as a bound of whole numbers."""

from __future__ import annotations

import math

__all__ = ["IntInfinity", "NegativeIntInfinity", "int_oo", "is_infinite"]


class IntInfinity(float):
    """The bound above all integers: `int_oo`, the only one of its class.

    It compares and adds as `math.inf` does; `int()` of it raises OverflowError.
    """

    is_integer = True

    def __new__(cls):
        return int_oo

    def __neg__(self) -> NegativeIntInfinity:
        return _below

    def __repr__(self) -> str:
        return "int_oo"

    __str__ = __repr__

    def __reduce__(self):
        return IntInfinity, ()


class NegativeIntInfinity(float):
    """The bound below all integers: `-int_oo`."""

    is_integer = True

    def __new__(cls):
        return _below

    def __neg__(self) -> IntInfinity:
        return int_oo

    def __repr__(self) -> str:
        return "-int_oo"

    __str__ = __repr__

    def __reduce__(self):
        return NegativeIntInfinity, ()


int_oo = float.__new__(IntInfinity, math.inf)
_below = float.__new__(NegativeIntInfinity, -math.inf)


def is_infinite(expr) -> bool:
    """Tells whether a bound is no number: this module's infinities or float's."""
    return expr in (math.inf, -math.inf)
