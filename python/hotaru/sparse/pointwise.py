"""Operators of each element."""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from . import coo
from ._answers import answers
from .tensor import is_sparse, parts_of, values_of, with_values

# f(0) == 0: the values alone tell the result.
_OF_ZERO_ZERO = [
    "abs",
    "absolute",
    "asin",
    "arcsin",
    "asinh",
    "arcsinh",
    "atan",
    "arctan",
    "atanh",
    "arctanh",
    "ceil",
    "deg2rad",
    "erf",
    "erfinv",
    "expm1",
    "floor",
    "frac",
    "isinf",
    "isnan",
    "isposinf",
    "isneginf",
    "log1p",
    "neg",
    "negative",
    "positive",
    "rad2deg",
    "relu",
    "round",
    "sgn",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "fix",
    "nan_to_num",
    "conj",
    "conj_physical",
    "angle",
    "clone",
    "contiguous",
    "real",
    "imag",
    "pow",
    "threshold_backward",
    "to",
    "type",
    "float",
    "double",
    "half",
    "bfloat16",
    "int",
    "long",
    "short",
    "bool",
    "char",
    "byte",
    "cfloat",
    "cdouble",
    "type_as",
    "cpu",
    "cuda",
]


def _unary(name: str):
    def of_values(tensor: Tensor, *args, **kwargs) -> Tensor:
        if tensor.is_sparse:
            tensor = coo.coalesce(tensor)
        values = getattr(values_of(tensor), name)(*args, **kwargs)
        return with_values(tensor, values)

    return answers(name)(of_values)


for _name in _OF_ZERO_ZERO:
    _unary(_name)


@answers("mul", "multiply")
def mul(a: Tensor, b) -> Tensor:
    """The product of a sparse tensor and a number, or another tensor of its
    shape.
    """
    if not isinstance(b, Tensor) or (b.dim() == 0 and not is_sparse(b)):
        return with_values(a, values_of(a) * b)
    if not is_sparse(a):
        a, b = b, a
    if a.is_sparse:
        a = coo.coalesce(a)
    from .masks import values_at

    return with_values(a, values_of(a) * values_at(b, a))


@answers("add")
def add(a: Tensor, b: Tensor, *, alpha=1) -> Tensor:
    """A + alpha * b: sparse if both are, else strided."""
    if not is_sparse(a) or not is_sparse(b):
        dense = [x.to_dense() if is_sparse(x) else x for x in (a, b)]
        return hotaru.add(*dense, alpha=alpha)
    indices = [parts_of(x).index for x in (a, b)]
    values = hotaru.cat([values_of(a), values_of(b) * alpha])
    both = coo.make(hotaru.cat(indices, 1), values, a.shape)
    if _C._sparse_coalesced(a) and _C._sparse_coalesced(b):
        return coo.coalesce(both)
    return both
