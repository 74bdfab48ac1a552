"""Functions of pairs of elements: both have one mask."""

from __future__ import annotations

from ... import _C
from ..._answering.names import writes
from ..._answering.table import answers
from ..._C import Tensor, ops
from ._kind import STRIDED
from .core import MaskedTensor, _masks_match, data_of, mask_of, wrap
from .unary import NAMED_ONLY, operators

BINARY_NAMES = [
    "add",
    "atan2",
    "arctan2",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "div",
    "divide",
    "floor_divide",
    "fmod",
    "logaddexp",
    "logaddexp2",
    "mul",
    "multiply",
    "nextafter",
    "remainder",
    "sub",
    "subtract",
    "true_divide",
    "eq",
    "ne",
    "le",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "less_equal",
    "lt",
    "less",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "not_equal",
]
_NOT_IN_PLACE = ("logaddexp", "logaddexp2", "fmin", "minimum", "maximum", "fmax")
INPLACE_BINARY_NAMES = [n + "_" for n in BINARY_NAMES if n not in _NOT_IN_PLACE]
NATIVE_BINARY_FNS = operators(BINARY_NAMES)
NATIVE_INPLACE_BINARY_FNS = operators(INPLACE_BINARY_NAMES)


def check_keywords(kwargs: dict) -> None:
    if NAMED_ONLY & set(kwargs):
        raise ValueError("len(kwargs) must equal 0")


@answers(*BINARY_NAMES, *INPLACE_BINARY_NAMES, of=STRIDED, asked=True)
def binary(operator, first, second, *args, **kwargs):
    """The operator on all pairs, with the mask of whichever has one."""
    check_keywords(kwargs)
    if any(isinstance(x, Tensor) for x in args):
        raise TypeError(
            "MaskedTensor binary ops do not support Tensor arguments aside "
            "from the lhs and rhs"
        )
    if not _masks_match(first, second):
        raise ValueError(
            "Input masks must match. "
            "If you need support for this, please open an issue on Github."
        )
    found = operator(data_of(first), data_of(second), *args, **kwargs)
    if writes(operator.__name__):
        return first
    masked = first if isinstance(first, MaskedTensor) else second
    return wrap(found, mask_of(masked).expand_as(found))


@answers("where", of=STRIDED, asked=True)
def where(operator, condition, first, second):
    """Elements and mask of the first where the condition holds."""
    if not isinstance(condition, Tensor):
        raise ValueError(
            "__torch_dispatch__, aten.where: expected args[0] to be a tensor"
        )
    condition = data_of(condition)
    data = operator(condition, data_of(first), data_of(second))
    mask = operator(condition, _whole_mask(first), _whole_mask(second))
    return wrap(data, mask)


def _whole_mask(x):
    """The mask; of what has none one that lets all through."""
    if isinstance(x, MaskedTensor):
        return x.get_mask()
    shape = x.shape if isinstance(x, Tensor) else ()
    return ops.ones(shape, dtype=_C.bool)


@answers("copy_", of=STRIDED, asked=True)
def copy_(operator, first, second, *args, **kwargs):
    """The elements of the second in place of the first's; the mask stays."""
    operator(data_of(first), data_of(second), *args, **kwargs)
    return first
