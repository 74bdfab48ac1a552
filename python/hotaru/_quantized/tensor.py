"""Tensors of integers that stand for numbers."""

from __future__ import annotations

from typing import Any

import hotaru

from .. import _C
from .._answering.base import Hidden, Wrapping
from .._answering.text import filled
from .._C import Tensor
from .._late import lent
from .dtypes import (
    QuantizedDtype,
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_tensor_affine,
    qscheme,
)
from .kind import QUANTIZED
from .rounding import dequantize, over_axis


class QuantizedTensor(Wrapping, of=QUANTIZED, metaclass=Hidden):
    """Integers with a scale and a zero point, for all or for each channel.

    It has no memory of its own; `int_repr` gives the integers, which views
    share. Operators are answered by name (`operators.py`).
    """

    is_quantized = True

    @property
    def dtype(self) -> QuantizedDtype:
        return self._dtype

    def qscheme(self) -> qscheme:
        """How the scales are laid out."""
        if self._axis is None:
            return per_tensor_affine
        if self._zero_point.is_floating_point():
            return per_channel_affine_float_qparams
        return per_channel_affine

    def int_repr(self) -> Tensor:
        """A copy of the integers."""
        return self._integers.clone()

    def dequantize(self) -> Tensor:
        """The numbers, as float32."""
        scale, zero_point = self._scale, self._zero_point
        if self._axis is not None:
            scale = over_axis(scale, self._axis, self.dim())
            zero_point = over_axis(zero_point, self._axis, self.dim())
        return dequantize(self._integers, scale, zero_point)

    def q_scale(self) -> float:
        """The scale of all elements."""
        _for_all(self, "q_scale")
        return self._scale

    def q_zero_point(self) -> int:
        """The integer that stands for 0."""
        _for_all(self, "q_zero_point")
        return self._zero_point

    def q_per_channel_scales(self) -> Tensor:
        """Scales by channel, float64 (float32 with float zero points)."""
        _by_channel(self, "q_per_channel_scales")
        return self._scale

    def q_per_channel_zero_points(self) -> Tensor:
        """The zero point of each channel."""
        _by_channel(self, "q_per_channel_zero_points")
        return self._zero_point

    def q_per_channel_axis(self) -> int:
        """The dimension that has the channels."""
        _by_channel(self, "q_per_channel_axis")
        return self._axis

    def __repr__(self, *, tensor_contents=None) -> str:
        numbers = repr(self.dequantize())
        body = numbers[: numbers.rindex(")")].removesuffix(",")
        said = [
            f"size={tuple(self.shape)}",
            f"dtype={self.dtype}",
            f"quantization_scheme={self.qscheme()}",
        ]
        if self._axis is None:
            said += [f"scale={self._scale}", f"zero_point={self._zero_point}"]
        else:
            said += [
                f"scale={self._scale}",
                f"zero_point={self._zero_point}",
                f"axis={self._axis}",
            ]
        return filled(body, said)

    __str__ = __repr__

    def _copied(self) -> QuantizedTensor:
        return like(self, self._integers.clone())

    def __reduce_ex__(self, protocol):
        return lent("reduce_quantized")(self)


_C._hide_class(QuantizedTensor)


def _for_all(x: QuantizedTensor, name: str) -> None:
    if x._axis is not None:
        raise RuntimeError(
            f"{name}: the tensor has a scale for each channel "
            "(q_per_channel_scales, q_per_channel_zero_points)"
        )


def _by_channel(x: QuantizedTensor, name: str) -> None:
    if x._axis is None:
        raise RuntimeError(
            f"{name}: the tensor has one scale for all elements (q_scale, q_zero_point)"
        )


def build(
    integers: Tensor, dtype: QuantizedDtype, scale: Any, zero_point: Any, axis
) -> QuantizedTensor:
    """A tensor of these parts, which it keeps.

    `axis` is None for a scale (float) and zero point (int) of all elements.
    """
    made = _C._wrapper_tensor(
        QuantizedTensor,
        tuple(integers.shape),
        tuple(integers.stride()),
        0,
        integers.dtype,
        integers.device,
        False,
    )
    made._integers, made._dtype = integers.detach(), dtype
    made._scale, made._zero_point, made._axis = scale, zero_point, axis
    return made


def like(x: QuantizedTensor, integers: Tensor, axis=...) -> QuantizedTensor:
    """Other integers with the scale of x (their channels along `axis`)."""
    place = x._axis if axis is ... else axis
    return build(integers, x._dtype, x._scale, x._zero_point, place)


def is_quantized(x) -> bool:
    """True if it is a quantised tensor."""
    return isinstance(x, QuantizedTensor)


def scales_of(x: Tensor, scales, zero_points) -> tuple[Tensor, Tensor]:
    """Scales and zero points as a tensor with channels keeps them."""
    if zero_points.is_floating_point():
        return scales.to(_C.float32), zero_points.to(_C.float32)
    return scales.to(_C.float64), zero_points.to(_C.int64)


def whole_number(value) -> int:
    """The integer in a number or a tensor."""
    return int(value.item() if isinstance(value, hotaru.Tensor) else value)
