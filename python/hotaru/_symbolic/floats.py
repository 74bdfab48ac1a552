"""Floats and truth values of which no number is known.

Nothing here makes any: sizes are numbers, but for ragged ones (`integers.py`).
They are for programs that ask whether a number is one, and that have nodes of
their own.
"""

from __future__ import annotations

import sys

__all__ = ["SymBool", "SymFloat"]


class _Symbolic:
    """A value that its node answers for; what the node does not know is an
    AttributeError.
    """

    def __init__(self, node) -> None:
        self.node = node

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: {type(self).__name__}")

    def __repr__(self) -> str:
        return self.node._graph_repr()


def _guarded(value, kind: str):
    """The value, asked for where the program is."""
    frame = sys._getframe(2)
    place = frame.f_code.co_filename, frame.f_lineno
    return getattr(value.node, f"guard_{kind}")(*place)


def _binary(name: str, swapped: bool = False):
    def method(self, other):
        node = getattr(other, "node", None)
        if node is None:
            wrap = {bool: "bool", int: "int", float: "float"}.get(type(other))
            if wrap is None:
                return NotImplemented
            node = getattr(self.node, f"wrap_{wrap}")(other)
        a, b = (node, self.node) if swapped else (self.node, node)
        return _value(getattr(a, name)(b))

    return method


def _unary(name: str):
    def method(self):
        return _value(getattr(self.node, name)())

    return method


def _value(node):
    """The value of a node."""
    if node.is_bool():
        return SymBool(node)
    if node.is_float():
        return SymFloat(node)
    from .integers import SymInt

    return SymInt(node)


class SymFloat(_Symbolic):
    """A float that its node answers for."""

    def __bool__(self) -> bool:
        return bool(_guarded(self != 0.0, "bool"))

    def __float__(self) -> float:
        return _guarded(self, "float")

    def __int__(self) -> int:
        return int(_guarded(self, "float"))

    __trunc__ = __int__

    def as_integer_ratio(self) -> tuple[int, int]:
        """As `float.as_integer_ratio`, of its number."""
        return _guarded(self, "float").as_integer_ratio()

    def conjugate(self) -> SymFloat:
        """Itself."""
        return self

    def hex(self) -> str:
        """As `float.hex`, of its number."""
        return _guarded(self, "float").hex()

    def is_integer(self) -> bool:
        """True if its number is whole."""
        return _guarded(self, "float").is_integer()


class SymBool(_Symbolic):
    """A truth value that its node answers for."""

    def __bool__(self) -> bool:
        return _guarded(self, "bool")

    def __int__(self) -> int:
        return int(_guarded(self, "bool"))


for _name in ("add", "sub", "mul", "mod"):
    setattr(SymFloat, f"__{_name}__", _binary(_name))
    setattr(SymFloat, f"__r{_name}__", _binary(_name, swapped=True))
for _name, _operator in (("truediv", "float_truediv"), ("pow", "float_pow")):
    setattr(SymFloat, f"__{_name}__", _binary(_operator))
    setattr(SymFloat, f"__r{_name}__", _binary(_operator, swapped=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(SymFloat, f"__{_name}__", _binary(_name))
for _name, _operator in (
    ("neg", "neg"),
    ("pos", "pos"),
    ("abs", "abs"),
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("sym_int", "sym_int"),
    ("sym_float", "sym_float"),
):
    setattr(SymFloat, f"__{_name}__", _unary(_operator))
for _name in ("and", "or"):
    setattr(SymBool, f"__{_name}__", _binary(f"{_name}_"))
    setattr(SymBool, f"__r{_name}__", _binary(f"{_name}_"))
SymBool.__eq__ = _binary("eq")
SymBool.__sym_not__ = _unary("sym_not")
for _kind in (SymBool, SymFloat):
    _kind.__hash__ = _Symbolic.__hash__
    _kind.__module__ = __name__.rpartition(".")[0]
