"""Discrete Fourier transforms, of float32, float64 and their complex dtypes.

Integers count as the default dtype. Lengths (n, s) cut their dimensions or put
zeros behind; norm says what is divided by n: "backward" (the default: what
transforms back), "forward", or "ortho": both, by its square root.
"""

from __future__ import annotations

from ._C import Tensor, ops
from ._overrides import overridable as _overridable

__all__ = [
    "Tensor",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

#: fft(x, n=None, dim=-1, norm=None): complex to complex; of real x, too.
fft = ops.fft_fft
#: fft2(x, s=None, dim=(-2, -1), norm=None): over two dimensions.
fft2 = ops.fft_fft2
#: fftn(x, s=None, dim=None, norm=None): over several, of None all or the last.
fftn = ops.fft_fftn
#: ifft(x, n=None, dim=-1, norm=None): the reverse.
ifft = ops.fft_ifft
ifft2 = ops.fft_ifft2
ifftn = ops.fft_ifftn

#: rfft(x, n=None, dim=-1, norm=None): of real x the first n // 2 + 1 points;
#: the rest are conjugates of these.
rfft = ops.fft_rfft
rfft2 = ops.fft_rfft2
#: rfftn(x, s=None, dim=None, norm=None): the last dimension is the halved one.
rfftn = ops.fft_rfftn
#: irfft(x, n=None, dim=-1, norm=None): the reverse, real; n is even unless
#: given.
irfft = ops.fft_irfft
irfft2 = ops.fft_irfft2
irfftn = ops.fft_irfftn

#: hfft(x, n=None, dim=-1, norm=None): of the first half of a signal that is its
#: own conjugate reversed, whose transform is real.
hfft = ops.fft_hfft
hfft2 = ops.fft_hfft2
hfftn = ops.fft_hfftn
#: ihfft(x, n=None, dim=-1, norm=None): the reverse.
ihfft = ops.fft_ihfft
ihfft2 = ops.fft_ihfft2
ihfftn = ops.fft_ihfftn

#: fftfreq(n, d=1.0, *, dtype=None, device=None): the points' frequencies, of
#: samples at distance d.
fftfreq = ops.fft_fftfreq
#: rfftfreq(n, d=1.0, *, dtype=None, device=None): those of rfft.
rfftfreq = ops.fft_rfftfreq
#: fftshift(x, dim=None): frequency zero to the middle.
fftshift = ops.fft_fftshift
#: ifftshift(x, dim=None): and back.
ifftshift = ops.fft_ifftshift

_overridable(globals(), __all__)
