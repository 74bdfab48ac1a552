"""Operators of each element."""

from __future__ import annotations

from .._C import Tensor
from . import coo
from ._answers import NEEDS_COALESCED, answers
from .tensor import values_of, with_values

# f(0) == 0: the values alone tell the result.
_OF_ZERO_ZERO = """
    abs absolute asin arcsin asinh arcsinh atan arctan atanh arctanh ceil erf
    erfinv expm1 floor frac isinf isnan isposinf isneginf log1p relu round sgn
    sign signbit sin sinh sqrt tan tanh trunc fix nan_to_num angle
    threshold_backward square
""".split()
# Linear, too: elements of equal indices need not be added up before.
_LINEAR = """
    neg negative positive deg2rad rad2deg conj conj_physical clone contiguous
    real imag resolve_conj resolve_neg to float double half bfloat16 int long
    short char byte cfloat cdouble chalf type_as cpu cuda
""".split()


def _unary(name: str, linear: bool):
    def of_values(tensor: Tensor, *args, **kwargs) -> Tensor:
        if not linear and tensor.is_sparse:
            tensor = coo.coalesce(tensor)
        values = getattr(values_of(tensor), name)(*args, **kwargs)
        return with_values(tensor, values)

    if not linear:
        NEEDS_COALESCED.add(name)
    return answers(name)(of_values)


for _name in _OF_ZERO_ZERO:
    _unary(_name, False)
for _name in _LINEAR:
    _unary(_name, True)
_unary("bool", False)
NEEDS_COALESCED.discard("bool")
