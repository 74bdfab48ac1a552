"""Stand-ins for sizes, and for numbers that are made of them."""

from __future__ import annotations

import math
import typing

from ... import _C
from ..._own_names import no_member
from .warned import frozen

if typing.TYPE_CHECKING:
    from .traced import Recorder


class Traced:
    """Base of stand-ins for tensors and sizes."""

    __slots__ = ("name", "recorder", "value")

    def __init__(self, recorder: Recorder, name: str, value) -> None:
        self.recorder = recorder
        self.name = name
        self.value = value

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return repr(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)


class TracedNumber(Traced):
    """Base of stand-ins for numbers. Arithmetic stays symbolic, counting does
    not. Comparisons are tensors, which programs compute with, and so are
    numbers where a program calls a tensor's method.
    """

    __slots__ = ()

    def __getattr__(self, name: str):
        if not name.startswith("_") and hasattr(_C.Tensor, name):
            tensor = self.recorder.call(_C.tensor, (self,), {})
            return getattr(tensor, name)
        raise no_member(type(self.value), name)

    def item(self):
        """Stays what it is."""
        return self

    def __float__(self) -> float:
        frozen("a size to a Python float")
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __neg__(self):
        return 0 - self

    def __pos__(self):
        return self

    def __abs__(self):
        return self.recorder.bind(f"abs({self.name})", abs(self.value))

    __hash__ = Traced.__hash__


class TracedFloat(TracedNumber):
    """Result of arithmetic with sizes."""

    __slots__ = ()

    @property
    def __class__(self):
        return float

    def __int__(self) -> int:
        frozen("a number to a Python integer")
        return int(self.value)

    def __floor__(self):
        text = f"int({self.name} // 1.0)"
        return self.recorder.bind(text, math.floor(self.value))

    def __ceil__(self):
        return -math.floor(-self)

    def __trunc__(self):
        text = f"int({self.name})"
        return self.recorder.bind(text, math.trunc(self.value))


class TracedInt(TracedNumber):
    """A size."""

    __slots__ = ()

    @property
    def __class__(self):
        return int

    def __index__(self) -> int:
        return self.value

    __int__ = __index__
