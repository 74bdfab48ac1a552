"""Operators by their names, however a program wrote them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from .. import _C
from .._C import Tensor


def words(text: str) -> list[str]:
    """The names in a text."""
    return text.split()


_SLOTS = {
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "invert": "bitwise_not",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "negative": "neg",
    "absolute": "abs",
    "pos": "positive",
    "greater": "gt",
    "less": "lt",
    "greater_equal": "ge",
    "less_equal": "le",
    "not_equal": "ne",
    "moveaxis": "movedim",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
}
_REFLECTED = frozenset(
    words(
        "radd rsub rmul rtruediv rpow rmatmul rfloordiv rmod rand ror rxor "
        "rlshift rrshift rdiv"
    )
)
_COMMUTES = frozenset(words("radd rmul rand ror rxor"))
_ASSIGNED = frozenset(
    words("iadd isub imul itruediv ipow iand ior ixor imod ifloordiv")
)
_SAME = frozenset(words("add sub mul div pow matmul neg abs eq ne lt gt le ge pos"))


@cache
def base_name(name: str) -> str:
    """The operator's name without how it is written: of __iadd__ and add_."""
    name = name.partition(".")[0]
    if name.startswith("__"):
        word = name.strip("_")
        if word in _REFLECTED or word in _ASSIGNED:
            word = word[1:]
        known = word in _SLOTS or word in _SAME
        return _SLOTS.get(word, word) if known else name
    word = name[:-1] if name.endswith("_") else name
    return _SLOTS.get(word, word)


@cache
def writes(name: str) -> bool:
    """True if the operator of that name changes its first argument."""
    name = name.partition(".")[0]
    word = name.strip("_")
    if name.startswith("__"):
        return word in _ASSIGNED
    return name.endswith("_")


class Form(NamedTuple):
    """How the name of an operator is written."""

    base: str
    """The operator's name."""
    writes: bool
    """Set if it changes its first argument."""
    same: str
    """The name of an operator that takes and gives the same."""
    plain: str
    """The name of the form that makes a tensor."""


@cache
def form(name: str) -> Form:
    """How a name is written: as in __iadd__, add_, __radd__, subtract."""
    base, in_place = base_name(name), writes(name)
    word = name.strip("_")
    if word in _ASSIGNED:
        return Form(base, True, f"{base}_", base)
    if in_place:
        return Form(base, True, name, name[:-1])
    is_same = word not in _REFLECTED or word in _COMMUTES
    return Form(base, False, base if is_same else name, name)


def out_of_place(name: str):
    """The form of an operator that makes a tensor."""
    base = base_name(name)
    found = getattr(Tensor, base, None) or getattr(_C.ops, base, None)
    if found is None:
        raise NotImplementedError(f"{name} has no form that makes a tensor")
    return found
