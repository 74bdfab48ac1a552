"""The older windows: hann_window and its kin, periodic unless told."""

from __future__ import annotations

import math as _math
import operator

from .. import _C
from .._C import Tensor, ops
from .._extension.grad_mode import no_grad
from .._overrides import overridable as _overridable

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]


def bessel_i0(x: Tensor, most: float) -> Tensor:
    """The modified Bessel function I0 of values from 0 to `most`, in float64.

    By its power series: no term is negative, so that rounding stays small.
    """
    quarter, one = x * x / 4, ops.ones_like(x)
    found = one
    # Terms fall from k = most / 2 on, and vanish soon after; the k-th is
    # quarter / k^2 of the one before it.
    for k in range(int(1.5 * most) + 29, 0, -1):
        found = ops.addcmul(one, quarter, found, value=1 / (k * k))
    return found


def _window(
    name,
    formula,
    length,
    periodic,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
) -> Tensor:
    """`formula(points, n)` of the points 0 to n - 1 in the window's dtype."""
    if not isinstance(length, bool) and hasattr(length, "__index__"):
        length = operator.index(length)
    else:
        raise TypeError(
            f"{name}(): argument 'window_length' (position 1) must be int, "
            f"not {type(length).__name__}"
        )
    if layout is not None and layout is not _C.strided:
        raise RuntimeError(f"{name} is not implemented for sparse types, got: {layout}")
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    options = {"dtype": dtype, "device": device}
    with no_grad():
        if length < 2:
            out = ops.ones((length,), **options)
        else:
            n = length + 1 if periodic else length
            out = formula(ops.arange(n, **options), n)[:length]
            out = out.clone() if periodic else out
        if pin_memory:
            out = out.pin_memory()
    return out.requires_grad_() if requires_grad else out


def bartlett_window(window_length: int, periodic: bool = True, **options) -> Tensor:
    """A triangle."""

    def formula(points, n):
        points = points * (2 / (n - 1))
        half = (n - 1) // 2 + 1
        return ops.cat([points[:half], 2 - points[half:]])

    return _window("bartlett_window", formula, window_length, periodic, **options)


def blackman_window(window_length: int, periodic: bool = True, **options) -> Tensor:
    """Blackman's window of three cosines."""

    def formula(points, n):
        points = points * (_math.pi / (n - 1))
        fast = (points * 4).cos() * 0.08
        return fast - (points * 2).cos() * 0.5 + 0.42

    return _window("blackman_window", formula, window_length, periodic, **options)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options,
) -> Tensor:
    """A raised cosine: alpha - beta cos(2 pi n / (N - 1))."""
    formula = _raised_cosine(alpha, beta)
    return _window("hamming_window", formula, window_length, periodic, **options)


def hann_window(window_length: int, periodic: bool = True, **options) -> Tensor:
    """Hann's window, the square of a sine."""
    formula = _raised_cosine(0.5, 0.5)
    return _window("hann_window", formula, window_length, periodic, **options)


def _raised_cosine(alpha: float, beta: float):
    def formula(points, n):
        angle = points * (2 * _math.pi / (n - 1))
        return angle.cos() * -beta + alpha

    return formula


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, **options
) -> Tensor:
    """Kaiser's window; the greater `beta`, the narrower."""

    def formula(points, n):
        middle = (n - 1) / 2
        wide = (points.to(_C.float64) - middle) / middle
        inside = beta * (1 - wide * wide).clamp(min=0.0).sqrt()
        top = bessel_i0(ops.full((), float(beta), dtype=_C.float64), abs(beta))
        return (bessel_i0(inside, abs(beta)) / top).to(points.dtype)

    return _window("kaiser_window", formula, window_length, periodic, **options)


_overridable(globals(), __all__, "hotaru")
