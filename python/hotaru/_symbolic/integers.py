"""Integers of which no number is known: `torch.SymInt`."""

from __future__ import annotations

from .._own_names import own_root

# No memory is that large: whoever takes it for a number gets an error.
_VALUE = 1 << 60


class SymInt(int):
    """An integer that its node answers for: sizes of ragged dimensions are.

    A node has eq, ne, ge, gt, le, lt and mul with another node or a number,
    and is printed; anything else that is asked of it is an AttributeError.
    """

    def __new__(cls, node):
        made = int.__new__(cls, _VALUE)
        made.node = node
        return made

    def __eq__(self, other) -> bool:
        return self.node.eq(_node(other))

    def __ne__(self, other) -> bool:
        return not self.node.eq(_node(other))

    def __hash__(self) -> int:
        return hash(self.node)

    def __ge__(self, other) -> bool:
        return self.node.ge(_node(other))

    def __gt__(self, other) -> bool:
        return self.node.gt(_node(other))

    def __le__(self, other) -> bool:
        return self.node.le(_node(other))

    def __lt__(self, other) -> bool:
        return self.node.lt(_node(other))

    def __mul__(self, other):
        return SymInt(self.node.mul(_node(other)))

    __rmul__ = __mul__

    def __str__(self) -> str:
        return str(self.node)

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self):
        raise TypeError("a symbolic integer is of one process")


def _node(value):
    return value.node if isinstance(value, SymInt) else value


def _unknown(name: str):
    def method(self, *args):
        return getattr(self.node, name)(*map(_node, args))

    return method


for _name in (
    "add",
    "radd",
    "sub",
    "rsub",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "truediv",
    "rtruediv",
    "int",
    "float",
    "neg",
    "pow",
):
    setattr(SymInt, f"__{_name}__", _unknown(_name))


class _DimRange:
    """A dimension and the sizes it may have, as PyTorch's files of jagged
    tensors hold it. Nothing here looks at it.
    """

    __slots__ = ("dim", "max", "min")

    def __init__(self, dim=None, min=None, max=None) -> None:
        self.dim, self.min, self.max = dim, min, max

    def __eq__(self, other):
        if not isinstance(other, _DimRange):
            return NotImplemented
        return self.__getstate__() == other.__getstate__()

    def __hash__(self):
        return hash(tuple(self.__getstate__()))

    def __setstate__(self, state) -> None:
        self.dim, self.min, self.max = state

    def __getstate__(self):
        return [self.dim, self.min, self.max]


_DimRange.__module__ = f"{own_root()}._dynamo.decorators"
