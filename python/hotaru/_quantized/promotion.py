"""Which dtype operands have together where one is quantised."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .._extension.dtypes import QUANTIZED_TYPES, scalar_type


def _name(dtype) -> str:
    kind = str(dtype).removeprefix("torch.")
    known = QUANTIZED_TYPES.get(kind)
    return known.removesuffix("Tensor") if known else scalar_type(dtype)


def promote_types(a, b):
    """The dtype, if both are of it. RuntimeError for two."""
    if a is b:
        return a
    raise RuntimeError(
        "promoteTypes with quantized numbers is not handled yet; figure out "
        "what the correct rules should be, offending types: "
        f"{_name(a)} {_name(b)}"
    )


def can_cast(a, b) -> bool:
    """Tells whether values may become others by an assignment: not flags."""
    return b is not _C.bool or a is b


def result_type(a, b):
    """The dtype of an operation on two operands; a number that is whole goes
    by a tensor's. RuntimeError for two.
    """
    found = [
        x.dtype
        if isinstance(x, Tensor)
        else _C.get_default_dtype()
        if isinstance(x, (float, complex))
        else None
        for x in (a, b)
    ]
    known = [dtype for dtype in found if dtype is not None]
    return promote_types(known[0], known[-1])
