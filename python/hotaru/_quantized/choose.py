"""Which scale and zero point a range of numbers gets."""

from __future__ import annotations

import struct

from .. import _C
from .._C import Tensor


def _as_float(value: float) -> float:
    """Rounded to float32."""
    return struct.unpack("f", struct.pack("f", value))[0]


_MOST = 3.4028234663852886e38
# Scales below make 1 / scale too large for products in float32.
_SMALLEST = _as_float(6.1e-5)


def choose_qparams(
    low: float,
    high: float,
    qmin: int,
    qmax: int,
    reduce_range: bool = False,
    symmetric: bool = False,
) -> tuple[float, int]:
    """Scale and zero point with which qmin...qmax hold low...high and zero.

    The formula of gemmlowp ("Building a quantization paradigm from first
    principles"): zero is exact, and the zero point is taken from the end of
    the range whose rounding loses less. With `reduce_range` half the integers
    are used, so that products of two add up without saturating; `symmetric`
    puts zero into the middle if there are numbers on both sides.
    """
    if reduce_range:
        qmin, qmax = int(qmin / 2), int(qmax / 2)
    middle = symmetric and low < 0 < high
    if middle:
        most = (qmax - qmin) // 2
        each = max(-low / (most + 1), high / most)
        low, high = -each * (most + 1), each * most
    low, high = min(low, 0.0), max(high, 0.0)
    if not low <= high:
        raise RuntimeError(
            f"In ChooseQuantizationParams, min should be less than or equal "
            f"to max: min: {low}, max: {high}"
        )
    scale = (high - low) / (qmax - qmin)
    if _as_float(scale) < 1 / _MOST:
        # Its inverse is infinite in float32.
        scale = 0.1
    if scale < _SMALLEST:
        before, scale = scale, _SMALLEST
        if low == 0:
            high = _SMALLEST * (qmax - qmin)
        elif high == 0:
            low = -_SMALLEST * (qmax - qmin)
        else:
            low *= _SMALLEST / before
            high *= _SMALLEST / before
    from_low, from_high = qmin - low / scale, qmax - high / scale
    low_error = abs(qmin) + abs(low / scale)
    high_error = abs(qmax) + abs(high / scale)
    zero_point = from_low if low_error < high_error else from_high
    if middle:
        zero_point = (qmin + qmax) / 2
    return scale, round(min(max(zero_point, qmin), qmax))


def range_of(x: Tensor) -> tuple[float, float]:
    """The least and the greatest element; (0, 0) of none."""
    if x.numel() == 0:
        return 0.0, 0.0
    low, high = _C.ops.aminmax(x)
    return low.item(), high.item()


def _choose_qparams_per_tensor(
    self: Tensor, reduce_range: bool = False
) -> tuple[float, int]:
    """Scale and zero point for the tensor's elements as quint8."""
    return choose_qparams(*range_of(self), 0, 255, reduce_range)
