"""Numbers to integers and back, the two formulas behind everything here."""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from .dtypes import QuantizedDtype


def over_axis(values: Tensor, axis: int, dim: int) -> Tensor:
    """One value for each channel, in the shape that broadcasts over a tensor
    of `dim` dimensions.
    """
    shape = [1] * dim
    shape[axis] = -1
    return values.reshape(shape)


def to_integers(x: Tensor, scale, zero_point, low: int, high: int) -> Tensor:
    """round(x / scale + zero_point) within low...high, as x's dtype or wider.

    As in PyTorch the scale is inverted first, in float32; a NaN becomes the
    greatest, as its conversion to integers does there.
    """
    if isinstance(scale, Tensor):
        inverse = 1.0 / scale.to(_C.float32)
    else:
        inverse = hotaru.tensor(1.0) / scale
    # Beyond 24 bits float32 cannot tell integers apart.
    wide = _C.float64 if high > 2**24 else _C.float32
    levels = (x * inverse).to(wide) + zero_point
    return levels.round().clamp(low, high).nan_to_num(high)


def quantize(x: Tensor, scale, zero_point, dtype: QuantizedDtype) -> Tensor:
    """The integers of a dtype that stand for x, in the dtype's storage."""
    found = to_integers(x, scale, zero_point, dtype.low, dtype.high)
    return found.to(dtype.storage)


def dequantize(integers: Tensor, scale, zero_point) -> Tensor:
    """(integers - zero_point) * scale in float32."""
    if isinstance(scale, Tensor):
        scale = scale.to(_C.float32)
    # Differences of 32-bit integers do not fit into float32.
    wide = _C.float64 if integers.dtype is _C.int32 else _C.float32
    return (integers.to(wide) - zero_point).to(_C.float32) * scale
