"""Functions of each element: the mask stays."""

from __future__ import annotations

import math

from ..._answering.names import writes
from ..._answering.table import answers
from ..._C import Tensor, ops
from ..._tensor.elements import CASTS
from ._kind import STRIDED
from .core import data_of, mask_of, wrap

UNARY_NAMES = [
    "abs",
    "absolute",
    "acos",
    "arccos",
    "acosh",
    "arccosh",
    "angle",
    "asin",
    "arcsin",
    "asinh",
    "arcsinh",
    "atan",
    "arctan",
    "atanh",
    "arctanh",
    "bitwise_not",
    "ceil",
    "clamp",
    "clip",
    "conj_physical",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "fix",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logit",
    "i0",
    "isnan",
    "nan_to_num",
    "neg",
    "negative",
    "positive",
    "pow",
    "rad2deg",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sgn",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
INPLACE_UNARY_NAMES = [
    name + "_"
    for name in UNARY_NAMES
    if name not in ("angle", "positive", "signbit", "isnan")
]


def operators(names) -> list:
    """The operators of these names, or where there are none the methods."""
    return [getattr(ops, n, None) or getattr(Tensor, n) for n in names]


NATIVE_UNARY_FNS = operators(UNARY_NAMES)
NATIVE_INPLACE_UNARY_FNS = operators(INPLACE_UNARY_NAMES)

#: Functions that give a copy in another form, or of another dtype.
CAST_NAMES = ["to", "type", "type_as", *CASTS]

#: Arguments that have no place but their names, which masks know nothing of.
NAMED_ONLY = {"alpha", "decimals", "out", "rounding_mode"}


def check_no_keywords(kwargs: dict) -> None:
    if NAMED_ONLY & set(kwargs):
        raise ValueError(
            "MaskedTensor unary ops require that len(kwargs) == 0. "
            "If you need support for this, please open an issue on Github."
        )


@answers(*UNARY_NAMES, *INPLACE_UNARY_NAMES, of=STRIDED, asked=True)
@answers("isfinite", "isreal", of=STRIDED, asked=True)
def unary(operator, input, *args, **kwargs):
    """The operator on all elements, with the input's mask."""
    check_no_keywords(kwargs)
    if any(isinstance(x, Tensor) for x in (*args, *kwargs.values())):
        raise TypeError(
            "MaskedTensor unary ops do not support additional Tensor arguments"
        )
    found = operator(data_of(input), *args, **kwargs)
    if writes(operator.__name__):
        return input
    return wrap(found, mask_of(input))


@answers("cpu", *CAST_NAMES, of=STRIDED, asked=True)
def cast(function, input, *args, **kwargs):
    """The data in another form, or of another dtype; itself if it is so."""
    data = data_of(input)
    found = function(data, *args, **kwargs)
    if found is data:
        return input
    mask = mask_of(input).to(found.device)
    if kwargs.get("memory_format") is not None:
        mask = mask.to(memory_format=kwargs["memory_format"])
    return wrap(found, mask)


@answers("softmax", of=STRIDED, asked=True)
def softmax(operator, input, dim, dtype=None, **kwargs):
    """Softmax of the elements that count."""
    data, mask = data_of(input), mask_of(input)
    given = data.masked_fill(~mask, -math.inf)
    # A row in which none counts has no numbers, and shall give no NaN.
    given = given.masked_fill(~mask.any(dim, keepdim=True), 0)
    return wrap(ops.softmax(given, dim, dtype), mask)
