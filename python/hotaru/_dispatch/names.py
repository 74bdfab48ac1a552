"""Operators by their names, however a program wrote them."""

from __future__ import annotations

from .. import _C
from .._C import Tensor


def words(text: str) -> list[str]:
    """The names in a text."""
    return text.split()


_SLOTS = {
    "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "invert": "bitwise_not", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift", "subtract": "sub", "multiply": "mul",
    "divide": "div", "true_divide": "div", "negative": "neg",
    "absolute": "abs",
}  # fmt: skip
_REFLECTED = frozenset(
    words(
    "radd rsub rmul rtruediv rpow rmatmul rfloordiv rmod rand ror rxor "
    "rdiv"
)
)  # fmt: skip
_ASSIGNED = frozenset(
    words("iadd isub imul itruediv ipow iand ior ixor imod ifloordiv")
)
_METHODS_OF_OBJECTS = frozenset(
    words(
        "__getitem__ __setitem__ __len__ __iter__ __bool__ __float__ __int__ "
        "__contains__ __array__"
    )
)


def base_name(name: str) -> str:
    """The operator's name without how it is written: of __iadd__ and add_."""
    name = name.partition(".")[0]
    if name in _METHODS_OF_OBJECTS:
        return name
    if name.startswith("__"):
        word = name.strip("_")
        if word in _REFLECTED or word in _ASSIGNED:
            word = word[1:]
        return _SLOTS.get(word, word)
    word = name[:-1] if name.endswith("_") else name
    return _SLOTS.get(word, word)


def writes(name: str) -> bool:
    """Whether the operator of that name changes its first argument."""
    name = name.partition(".")[0]
    word = name.strip("_")
    if name.startswith("__"):
        return word in _ASSIGNED
    return name.endswith("_")


def out_of_place(name: str):
    """The form of an operator that makes a tensor."""
    base = base_name(name)
    found = getattr(Tensor, base, None) or getattr(_C.ops, base, None)
    if found is None:
        raise NotImplementedError(f"{name} has no form that makes a tensor")
    return found
