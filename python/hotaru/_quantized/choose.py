"""Which scale and zero point a range of numbers gets."""

from __future__ import annotations

from .. import _C
from .._C import Tensor


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
    return _C._choose_qparams(low, high, qmin, qmax, reduce_range, symmetric)


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
