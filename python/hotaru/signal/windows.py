"""Windows of M points, as filters and spectra use them.

All take, by name: `sym`, True for a window that is symmetric, False for one
period of a longer one; dtype (float32 or float64), layout, device and
requires_grad. Each raises ValueError for a negative M and what else it cannot
make.
"""

from __future__ import annotations

import inspect
import math

from .. import _C, tensor
from .._C import Tensor, ops
from .._functions.windows import bessel_i0

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


class _Window:
    """Base of windows: their checks, and the points that they depend on."""

    def __init__(
        self,
        name,
        M,
        sym=True,
        dtype=None,
        layout=_C.strided,
        device=None,
        requires_grad=False,
    ):
        dtype = _C.get_default_dtype() if dtype is None else dtype
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if layout is not _C.strided:
            raise ValueError(
                f"{name} is implemented for strided tensors only, got: {layout}"
            )
        if dtype not in (_C.float32, _C.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
        self.length = M
        self.sym = sym
        self.period = M - 1 if sym else M
        self.options = {
            "dtype": dtype,
            "device": device,
            "requires_grad": requires_grad,
        }

    def trivial(self) -> Tensor | None:
        """The window of no point or of one."""
        if self.length == 0:
            return ops.empty((0,), **self.options)
        return ops.ones((1,), **self.options) if self.length == 1 else None

    def points(self, first: float, step: float) -> Tensor:
        last = first + (self.length - 1) * step
        return ops.linspace(first, last, self.length, **self.options)

    def cosines(self, weights) -> Tensor:
        """A sum of cosines of multiples of the angle, with changing signs."""
        trivial = self.trivial()
        if trivial is not None:
            return trivial
        angles = self.points(0.0, 2 * math.pi / self.period)
        options = {k: self.options[k] for k in ("dtype", "device")}
        signed = [(-1) ** i * w for i, w in enumerate(weights)]
        column = tensor(signed, **options).unsqueeze(-1)
        order = ops.arange(len(signed), **options).unsqueeze(-1)
        return (column * ops.cos(order * angles)).sum(0)


def bartlett(M: int, **options) -> Tensor:
    """A triangle that is 0 at its ends."""
    window = _Window("bartlett", M, **options)
    trivial = window.trivial()
    if trivial is not None:
        return trivial
    return 1 - window.points(-1.0, 2 / window.period).abs()


def cosine(M: int, **options) -> Tensor:
    """Half a wave of the sine, at the middles of M parts."""
    window = _Window("cosine", M, **options)
    trivial = window.trivial()
    if trivial is not None:
        return trivial
    step = math.pi / (window.period + 1)
    return window.points(0.5 * step, step).sin()


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, **options
) -> Tensor:
    """exp(-|n - center| / tau).

    Raises ValueError if tau is not positive, or a center is given for a
    symmetric window.
    """
    window = _Window("exponential", M, **options)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if window.sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    trivial = window.trivial()
    if trivial is not None:
        return trivial
    center = window.period / 2 if center is None else center
    return ops.exp(-window.points(-center / tau, 1 / tau).abs())


def gaussian(M: int, *, std: float = 1.0, **options) -> Tensor:
    """A bell of standard deviation `std`, which has to be positive."""
    window = _Window("gaussian", M, **options)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    trivial = window.trivial()
    if trivial is not None:
        return trivial
    step = 1 / (std * math.sqrt(2))
    return ops.exp(-(window.points(-window.period / 2 * step, step) ** 2))


def kaiser(M: int, *, beta: float = 12.0, **options) -> Tensor:
    """Kaiser's window; the greater `beta` (not negative), the narrower."""
    window = _Window("kaiser", M, **options)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    trivial = window.trivial()
    if trivial is not None:
        return trivial
    points = window.points(-1.0, 2 / window.period).clamp(max=1.0)
    wide = points.to(_C.float64)
    inside = (1 - wide * wide).clamp(min=0.0)
    found = bessel_i0(beta * inside.sqrt(), beta) / bessel_i0(
        ops.full((), beta, dtype=_C.float64), beta
    )
    return found.to(points.dtype)


def general_cosine(M: int, *, a, **options) -> Tensor:
    """The sum of (-1)^i a[i] cos(2 pi i n / (M - 1)).

    Raises TypeError if `a` is no list or tuple, ValueError if it is empty.
    """
    window = _Window("general_cosine", M, **options)
    if window.length < 2:
        return window.trivial()
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return window.cosines(a)


def general_hamming(M: int, *, alpha: float = 0.54, **options) -> Tensor:
    """A raised cosine, alpha - (1 - alpha) cos(2 pi n / (M - 1))."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], **options)


def hamming(M: int, **options) -> Tensor:
    """Hamming's window."""
    return general_hamming(M, **options)


def hann(M: int, **options) -> Tensor:
    """Hann's window, the square of a sine."""
    return general_hamming(M, alpha=0.5, **options)


def blackman(M: int, **options) -> Tensor:
    """Blackman's window of three cosines."""
    window = _Window("blackman", M, **options)
    return window.cosines([0.42, 0.5, 0.08])


def nuttall(M: int, **options) -> Tensor:
    """Nuttall's window of four cosines."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], **options)


def _say_options() -> None:
    """Signatures name what all windows take."""
    shared = [
        p.replace(kind=p.KEYWORD_ONLY)
        for p in list(inspect.signature(_Window).parameters.values())[2:]
    ]
    for name in __all__:
        function = globals()[name]
        plain = inspect.signature(function)
        own = list(plain.parameters.values())[:-1]
        function.__signature__ = plain.replace(parameters=[*own, *shared])


_say_options()
