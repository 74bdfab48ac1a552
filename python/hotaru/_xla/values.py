"""Tensors of a program that is written, and why one cannot be."""

from __future__ import annotations

from .. import bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8
from .. import bool as bool_
from ..jit._ir.walk import NotFollowed

#: Types of elements as StableHLO writes them.
NAMES = {
    float32: "f32",
    float64: "f64",
    float16: "f16",
    bfloat16: "bf16",
    int8: "i8",
    int16: "i16",
    int32: "i32",
    int64: "i64",
    uint8: "ui8",
    bool_: "i1",
}

# Types by the numbers that script IR has for them.
_BY_NUMBER = {
    0: uint8,
    1: int8,
    2: int16,
    3: int32,
    4: int64,
    5: float16,
    6: float32,
    7: float64,
    11: bool_,
    15: bfloat16,
}


class NotWritten(NotFollowed):
    """Raised where what a program does cannot be written as StableHLO."""


DRAWS = "it draws random numbers"
NO_ROW = "the xla backend has no row for it"


def refuse_dropout(probability: float) -> None:
    if probability > 0:
        raise NotWritten("its dropout draws random numbers")


class Val:
    """A tensor of the program: its name in the text, shape and dtype.

    Two names of the IR for one tensor are one `Val`, so what is written in
    place is seen by both. A view knows its source and how it is made of it.
    """

    def __init__(self, name: str | None, shape, dtype, const=None) -> None:
        self.name = name
        self.shape = tuple(shape)
        self.dtype = dtype
        #: The tensor itself, where the program knows it already.
        self.const = const
        #: Origin of the program's argument, once this is read first.
        self.origin = const
        #: Set for arguments and parameters, which must not be written.
        self.given = ""
        self.version = 0
        # Source that a view is of, with the version of that which it shows;
        # `make` gives it anew, `put` the source with the view's place
        # rewritten.
        self.source: Val | None = None
        self.seen = 0
        self.make = None
        self.put = None
        # Set if it cannot be read again, as memory that it may share was
        # written.
        self.lost = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def count(self) -> int:
        n = 1
        for size in self.shape:
            n *= size
        return n

    @property
    def floating(self) -> bool:
        return self.dtype.is_floating_point

    def axis(self, dim: int) -> int:
        """A dimension counted from the front. IndexError: there is none."""
        rank = max(self.rank, 1)
        if not -rank <= dim < rank:
            raise NotWritten(f"dimension {dim} of a tensor of {self.rank}")
        return dim % rank


def type_text(shape, dtype) -> str:
    """A tensor type: "tensor<2x3xf32>"."""
    if dtype not in NAMES:
        raise NotWritten(f"tensors of {dtype}")
    return f"tensor<{''.join(f'{n}x' for n in shape)}{NAMES[dtype]}>"


def dtype_of(value):
    """A dtype that script IR has as a number; None stays None."""
    if isinstance(value, int):
        if value not in _BY_NUMBER:
            raise NotWritten(f"the dtype of number {value}")
        return _BY_NUMBER[value]
    return value
