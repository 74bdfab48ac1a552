"""Functions on numbers that programs write where a size may be symbolic.

Sizes are numbers here, always, so these are what the functions do to numbers.
"""

from __future__ import annotations

import math as _math
from numbers import Real as _Real

from .._overrides import overridable as _overridable

_ROOTS = (
    "sqrt",
    "cos",
    "cosh",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "asin",
    "acos",
    "atan",
    "log2",
)

__all__ = [
    *(f"_sym_{name}" for name in _ROOTS),
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "sym_float",
    "sym_fresh_size",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
]


def sym_int(a):
    """An integer of a number, towards zero."""
    return int(a)


def sym_float(a):
    """A float of a number."""
    return float(a)


def sym_not(a):
    """The opposite of a truth value."""
    return not a


def sym_fresh_size(expr):
    """The size itself."""
    return int(expr)


def sym_constrain_range(size, *, min=None, max=None) -> None:
    """RuntimeError: a number does not lie between the two, both included."""
    low = -(2**63) if min is None else min
    high = 2**63 - 1 if max is None else max
    if low > high:
        raise RuntimeError(
            f"Max must be greater than or equal to min. Got min={low} max={high}"
        )
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


def sym_constrain_range_for_size(size, *, min=None, max=None) -> None:
    """The same of a size, which is 0 at least."""
    if max is not None and max <= 2:
        raise RuntimeError(
            f"Max value to constrain_range_for_size must be greater than 2. got: {max}"
        )
    sym_constrain_range(size, min=0 if min is None else min, max=max)


def _checked(*numbers) -> bool:
    """True if one of the numbers is a float.

    AssertionError: it is no number.
    """
    for number in numbers:
        if not isinstance(number, _Real):  # NumPy's are some
            raise AssertionError(f"expected an int or a float, got {type(number)}")
    return any(isinstance(number, float) for number in numbers)


def sym_max(a, b):
    """The larger number; a float where one of them is one."""
    larger = max(a, b)
    return float(larger) if _checked(a, b) else larger


def sym_min(a, b):
    """The smaller number; a float where one of them is one."""
    smaller = min(a, b)
    return float(smaller) if _checked(a, b) else smaller


def sym_sum(args):
    """The sum of some numbers; a number is its own."""
    return sum(args) if isinstance(args, (list, tuple)) else args


def sym_ite(b, t, f):
    """`t if b else f`, for two values of one type.

    AssertionError: they are not, or `b` is no truth value.
    """
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return t if b else f


def _of_float(name: str):
    apply = getattr(_math, name)

    def function(a):
        return apply(a)

    function.__name__ = function.__qualname__ = f"_sym_{name}"
    function.__doc__ = f"`math.{name}` of a number."
    return function


globals().update({f"_sym_{name}": _of_float(name) for name in _ROOTS})

_overridable(globals(), __all__, "hotaru")
sym_sqrt = globals()["_sym_sqrt"]
