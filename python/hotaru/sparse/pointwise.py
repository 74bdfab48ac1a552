"""Operators of each element."""

from __future__ import annotations

from .._answering.table import answers
from .._C import Tensor
from . import coo
from ._kind import ANY, NEEDS_COALESCED
from .history import linear
from .tensor import SparseTensor, parts_of, values_of, with_values

# f(0) == 0: the values alone tell the result.
_OF_ZERO_ZERO = """
    abs absolute asin arcsin asinh arcsinh atan arctan atanh arctanh ceil erf
    erfinv expm1 floor frac isinf isnan isposinf isneginf log1p relu round sgn
    sign signbit sin sinh sqrt tan tanh trunc fix nan_to_num angle
    threshold_backward square
""".split()  # noqa: SIM905
# The same of tensors and their derivatives, so without a look at the values.
_PASSED = """
    neg negative positive conj conj_physical clone contiguous resolve_conj
    resolve_neg
""".split()  # noqa: SIM905
_CAST = """
    to float double half bfloat16 int long short char byte bool cfloat cdouble
    chalf type_as cpu cuda
""".split()  # noqa: SIM905
# Linear, too: elements of equal indices need not be added up before.
_FIRST_NAMES = {
    "absolute": "abs",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    "fix": "trunc",
}
_LINEAR = ("deg2rad", "rad2deg")


def _unary(name: str, linear: bool):
    def of_values(tensor: Tensor, *args, inplace=False, **kwargs) -> Tensor:
        if inplace:
            return getattr(tensor, f"{name}_")(*args, **kwargs)
        if not linear and tensor.is_sparse:
            tensor = coo.coalesce(tensor)
        values = getattr(values_of(tensor), name)(*args, **kwargs)
        return with_values(tensor, values)

    if not linear:
        NEEDS_COALESCED[name] = _FIRST_NAMES.get(name, name)
    return answers(name, of=ANY)(of_values)


def _of_parts(tensor: Tensor, name: str, args, kwargs) -> Tensor:
    values = getattr(parts_of(tensor).values, name)(*args, **kwargs)
    if values.is_meta and tensor.is_sparse:
        dims = coo.sparse_dims(tensor)
        return coo.empty(tensor.shape, dims, dtype=values.dtype, device="meta")
    return with_values(tensor, values)


def _passed(name: str):
    def of_values(tensor: Tensor, *args, **kwargs) -> Tensor:
        return linear(
            lambda x: _of_parts(x, name, args, kwargs),
            lambda g: getattr(g, name)(),
            tensor,
        )

    return answers(name, of=ANY)(of_values)


def _cast(name: str):
    def of_values(tensor: Tensor, *args, **kwargs) -> Tensor:
        if not isinstance(tensor, SparseTensor):
            return getattr(tensor, name)(*map(_strided_like, args), **kwargs)
        args = tuple(map(_strided_like, args))
        values = parts_of(tensor).values
        if getattr(values, name)(*args, **kwargs) is values:
            return tensor
        return linear(
            lambda x: _of_parts(x, name, args, kwargs),
            lambda g: g.to(values.dtype),
            tensor,
        )

    return answers(name, of=ANY)(of_values)


def _strided_like(value):
    """For the dtype and the device: of a sparse tensor its values."""
    is_sparse = isinstance(value, SparseTensor)
    return parts_of(value).values if is_sparse else value


for _name in _PASSED:
    _passed(_name)
for _name in _CAST:
    _cast(_name)
for _name in _OF_ZERO_ZERO:
    _unary(_name, False)
for _name in _LINEAR:
    _unary(_name, True)


@answers("real", of=ANY)
def real(tensor: Tensor) -> Tensor:
    """The real parts; a real tensor as it is."""
    if not tensor.is_complex():
        return tensor
    return with_values(tensor, values_of(tensor).real)


@answers("imag", of=ANY)
def imag(tensor: Tensor) -> Tensor:
    """The imaginary parts; RuntimeError of a real tensor."""
    return with_values(tensor, values_of(tensor).imag)
