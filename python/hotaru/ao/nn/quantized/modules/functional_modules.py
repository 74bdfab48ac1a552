"""Sums and products as modules, so that their outputs can be observed."""

from __future__ import annotations

import hotaru

from ..... import nn
from ....._quantized.operators import requantized
from ....._quantized.tensor import build
from .utils import KeepsQparams, output_qparams

__all__ = ["FXFloatFunctional", "FloatFunctional", "QFunctional"]


class FXFloatFunctional(nn.Module):
    """The operators in floats; calls of the module itself are errors."""

    _said = "FloatFunctional"

    def forward(self, x):
        raise RuntimeError(
            f"{self._said} is not intended to use the 'forward'. "
            "Please use the underlying operation"
        )

    def _seen(self, made):
        return made

    def add(self, x, y):
        """X + y."""
        return self._seen(hotaru.add(x, y))

    def add_scalar(self, x, y: float):
        """X + y; its scale follows from that of x."""
        return hotaru.add(x, y)

    def mul(self, x, y):
        """X · y."""
        return self._seen(hotaru.mul(x, y))

    def mul_scalar(self, x, y: float):
        """X · y; its scale follows from that of x."""
        return hotaru.mul(x, y)

    def cat(self, x, dim: int = 0):
        """The tensors joined."""
        return self._seen(hotaru.cat(x, dim=dim))

    def add_relu(self, x, y):
        """max(x + y, 0)."""
        return self._seen(nn.functional.relu(hotaru.add(x, y)))

    def matmul(self, x, y):
        """The product of matrices."""
        return self._seen(hotaru.matmul(x, y))


class FloatFunctional(FXFloatFunctional):
    """The operators in floats, with their outputs observed."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = nn.Identity()

    def _seen(self, made):
        return self.activation_post_process(made)


class QFunctional(KeepsQparams, FXFloatFunctional):
    """The operators of quantised tensors, with the scale of their outputs."""

    _said = "Functional"

    def __init__(self) -> None:
        super().__init__()
        self.scale = 1.0
        self.zero_point = 0
        self.activation_post_process = nn.Identity()

    def _get_name(self) -> str:
        return "QFunctional"

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def _made(self, numbers, like):
        made = hotaru.quantize_per_tensor(
            numbers, self.scale, self.zero_point, like.dtype
        )
        return self.activation_post_process(made)

    def add(self, x, y):
        """X + y."""
        return self._made(x.dequantize() + y.dequantize(), x)

    def mul(self, x, y):
        """X · y."""
        return self._made(x.dequantize() * y.dequantize(), x)

    def cat(self, x, dim: int = 0):
        """The tensors joined."""
        numbers = hotaru.cat([y.dequantize() for y in x], dim)
        return self._made(numbers, x[0])

    def add_relu(self, x, y):
        """max(x + y, 0)."""
        return self._made((x.dequantize() + y.dequantize()).relu(), x)

    def matmul(self, x, y):
        """The product of matrices."""
        return self._made(x.dequantize() @ y.dequantize(), x)

    def add_scalar(self, x, y: float):
        """X + y: the zero point moves, or the scale grows where it cannot."""
        return self.activation_post_process(_plus(x, y))

    def mul_scalar(self, x, y: float):
        """X · y: the scale changes."""
        return self.activation_post_process(_times(x, y))

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a `FloatFunctional` that was observed."""
        if type(mod) is not FloatFunctional:
            raise AssertionError(
                "QFunctional.from_float expects an instance of FloatFunctional"
            )
        made = QFunctional()
        made.scale, made.zero_point = output_qparams(mod)
        return made


def _plus(x, number: float):
    scale, dtype = x.q_scale(), x.dtype
    zero_point = x.q_zero_point() - round(number / scale)
    if dtype.low <= zero_point <= dtype.high:
        return build(x._integers.clone(), dtype, scale, zero_point, None)
    # All numbers are on one side of zero, which has to be in the range, too.
    span = dtype.high - dtype.low
    end = dtype.low if zero_point < dtype.low else dtype.high
    wider = (abs(dtype.high + dtype.low - end - zero_point)) / span * scale
    shape = build(x._integers, dtype, wider, end, None)
    numbers = (x._integers.to(hotaru.float32) - zero_point) * scale
    return requantized(numbers, shape)


def _times(x, number: float):
    scale, zero_point, dtype = x.q_scale(), x.q_zero_point(), x.dtype
    if number > 0:
        return build(x._integers.clone(), dtype, scale * number, zero_point, None)
    if number == 0:
        zeros = hotaru.zeros_like(x._integers)
        return build(zeros, dtype, 1.0, 0, None)
    # Mirrored within the range.
    ends = dtype.low + dtype.high
    turned = (ends - x._integers.to(hotaru.int32)).to(x._integers.dtype)
    return build(turned, dtype, -scale * number, ends - zero_point, None)
