"""Functions of single elements."""

from __future__ import annotations

from ... import _C, get_default_dtype, result_type
from ..._C import Tensor
from .table import end, o, part

part("square")(lambda self, *, out=None: end("pow.Tensor_Scalar", self, 2, out=out))
part("square_")(lambda self: o("pow_.Scalar", self, 2))


def _wide(dtype):
    return _C.complex128 if dtype.is_complex else _C.float64


def _as(x, dtype):
    if isinstance(x, Tensor):
        return x if x.dtype == dtype else o._to_copy(x, dtype=dtype)
    return x


def _float_power(name: str):
    def power(self, exponent, *, out=None):
        dtype = _wide(result_type(self, exponent))
        base, exponent = _as(self, dtype), _as(exponent, dtype)
        if not isinstance(base, Tensor):
            base = complex(base) if dtype.is_complex else float(base)
        if not isinstance(exponent, Tensor):
            exponent = complex(exponent) if dtype.is_complex else float(exponent)
        return end(f"pow.{name}", base, exponent, out=out)

    return power


for _name in ("Tensor_Tensor", "Tensor_Scalar", "Scalar"):
    part(f"float_power.{_name}")(_float_power(_name))


@part("isfinite")
def isfinite(self):
    """True where neither infinite nor no number."""
    if not (self.is_floating_point() or self.is_complex()):
        return o.ones_like(self, dtype=_C.bool, memory_format=_C.preserve_format)
    if self.is_complex():
        parts = o.view_as_real(self)
        real = o("select.int", parts, -1, 0)
        imag = o("select.int", o.view_as_real(self), -1, 1)
        return o("bitwise_and.Tensor", isfinite(real), isfinite(imag))
    size = o.abs(self)
    finite = o("ne.Scalar", size, float("inf"))
    return o("mul.Tensor", o("eq.Tensor", self, self), finite)


@part("isclose")
def _isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    close = o("eq.Tensor", self, other)
    if equal_nan and (self.is_floating_point() or self.is_complex()):
        both = o(
            "bitwise_and_.Tensor",
            o("ne.Tensor", self, self),
            o("ne.Tensor", other, other),
        )
        close = o("bitwise_or_.Tensor", close, both)
    if rtol == 0 and atol == 0:
        return close
    wide = other
    if not (wide.is_floating_point() or wide.is_complex()):
        wide = o._to_copy(wide, dtype=get_default_dtype())
    if rtol < 0 or atol < 0:
        raise RuntimeError(
            f"rtol must be greater than or equal to zero, but got {rtol}"
            if rtol < 0
            else f"atol must be greater than or equal to zero, but got {atol}"
        )
    allowed = o.abs(o("mul.Scalar", wide, rtol))
    allowed = o("add.Scalar", allowed, atol)
    actual = o.abs(o("sub.Tensor", self, wide))
    finite = isfinite(actual)
    near = o("le.Tensor", actual, allowed)
    near = o("bitwise_and_.Tensor", finite, near)
    return o("bitwise_or_.Tensor", close, near)


@part("isreal")
def _isreal(self):
    if self.is_complex():
        return o("eq.Scalar", o("select.int", o.view_as_real(self), -1, 1), 0)
    return o.ones_like(self, dtype=_C.bool, memory_format=_C.preserve_format)


part("selu")(lambda self: o.elu(self, 1.6732632423543772, 1.0507009873554805))
part("selu_")(lambda self: o.elu_(self, 1.6732632423543772, 1.0507009873554805))
part("relu6")(lambda self: o.hardtanh(self, 0, 6))
part("relu6_")(lambda self: o.hardtanh_(self, 0, 6))
part("prelu")(lambda self, weight: _prelu(self, weight))


def _prelu(self, weight):
    from .shapes import reshape

    if weight.dim() != 1 or self.dim() > 1:
        shape = [1] * self.dim()
        if self.dim() > 1:
            shape[1] = weight.numel()
        if list(weight.shape) != shape:
            weight = reshape(weight, shape)
    return o._prelu_kernel(self, weight)


part("log_sigmoid")(lambda self: o.log_sigmoid_forward(self)[0])


def _soft(name: str):
    def soft(self, dim, dtype=None):
        x = self if dtype is None else _as(self, dtype)
        return o(name, x, dim, False)

    return soft


part("softmax.int")(_soft("_softmax"))
part("log_softmax.int")(_soft("_log_softmax"))


@part("special_ndtr")
def _ndtr(self):
    x = o("mul.Scalar", self, 0.7071067811865476)
    return o("mul.Scalar", o("add.Scalar", o.erf(x), 1), 0.5)
