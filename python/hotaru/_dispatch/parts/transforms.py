"""Fourier transforms, of the three that PyTorch has kernels of."""

from __future__ import annotations

from ... import _C, get_default_dtype
from .table import changed, end, o, part

_COMPLEX = {
    _C.float16: _C.complex32,
    _C.float32: _C.complex64,
    _C.float64: _C.complex128,
}


def _scale(norm: str | None, forward: bool) -> int:
    """The mode of division: by nothing, the root of the count, the count."""
    if norm == "ortho":
        return 1
    return 2 if (norm == "forward") == forward else 0


def _real(x):
    if x.is_floating_point():
        return x
    return o._to_copy(x, dtype=get_default_dtype())


def _complex(x):
    if x.is_complex():
        return x
    dtype = x.dtype if x.is_floating_point() else get_default_dtype()
    return o._to_copy(x, dtype=_COMPLEX[dtype])


def _resized(x, dims: list[int], sizes: list[int]):
    pads = [0] * (2 * x.dim())
    for dim, size in zip(dims, sizes):
        if size == -1:
            continue
        if x.shape[dim] < size:
            pads[2 * (x.dim() - 1 - dim) + 1] = size - x.shape[dim]
        elif x.shape[dim] > size:
            x = o("slice.Tensor", x, dim, 0, size)
    return o.constant_pad_nd(x, pads) if any(pads) else x


def _c2c(x, n, dim, norm, forward, out):
    x = _complex(x)
    dim %= x.dim()
    if n is not None:
        x = _resized(x, [dim], [n])
    return end("_fft_c2c", x, [dim], _scale(norm, forward), forward, out=out)


def _r2c(x, n, dim, norm, forward, onesided, out):
    x = _real(x)
    dim %= x.dim()
    if n is not None:
        x = _resized(x, [dim], [n])
    given = x, [dim], _scale(norm, forward), onesided
    if forward:
        return end("_fft_r2c", *given, out=out)
    return _conjugated(o._fft_r2c(*given), out)


def _conjugated(x, out):
    return o._conj(x) if out is None else end("conj_physical", x, out=out)


def _plainly_conjugated(x):
    """The conjugate, as a copy where PyTorch's kernel has to make one."""
    x = o._conj(x)
    return x if _C._dispatches(x) else o.clone(x)


def _c2r(x, n, dim, norm, forward, out):
    x = _complex(x)
    dim %= x.dim()
    size = 2 * (x.shape[dim] - 1) if n is None else n
    if n is not None:
        x = _resized(x, [dim], [size // 2 + 1])
    if forward:
        x = _plainly_conjugated(x)
    return end("_fft_c2r", x, [dim], _scale(norm, forward), size, out=out)


def _one(name: str, forward: bool) -> None:
    @part(f"fft_{name}")
    def transform(self, n=None, dim=-1, norm=None, *, out=None):
        if self.is_complex():
            return _c2c(self, n, dim, norm, forward, out)
        return _r2c(self, n, dim, norm, forward, False, out)


_one("fft", True)
_one("ifft", False)
part("fft_rfft")(
    lambda self, n=None, dim=-1, norm=None, *, out=None: _r2c(
        self, n, dim, norm, True, True, out
    )
)
part("fft_ihfft")(
    lambda self, n=None, dim=-1, norm=None, *, out=None: _r2c(
        self, n, dim, norm, False, True, out
    )
)
part("fft_irfft")(
    lambda self, n=None, dim=-1, norm=None, *, out=None: _c2r(
        self, n, dim, norm, False, out
    )
)
part("fft_hfft")(
    lambda self, n=None, dim=-1, norm=None, *, out=None: _c2r(
        self, n, dim, norm, True, out
    )
)


def _places(x, s, dim) -> tuple[list[int], list[int]]:
    """Sizes and dimensions of a transform of several."""
    count = x.dim()
    if dim is not None:
        dims = [d % count for d in ([dim] if isinstance(dim, int) else dim)]
    elif s is not None:
        dims = list(range(count - len(s), count))
    else:
        dims = list(range(count))
    sizes = [-1] * len(dims) if s is None else list(s)
    return [x.shape[d] if n == -1 else n for n, d in zip(sizes, dims)], dims


def _halved(x, s, dim) -> tuple[list[int], list[int], int]:
    sizes, dims = _places(x, s, dim)
    last = 2 * (x.shape[dims[-1]] - 1)
    if s is not None and list(s)[-1] != -1:
        last = list(s)[-1]
    sizes[-1] = last // 2 + 1
    return sizes, dims, last


def _cn(self, s, dim, norm, forward, out):
    x = _complex(self)
    sizes, dims = _places(x, s, dim)
    x = _resized(x, dims, sizes)
    return end("_fft_c2c", x, dims, _scale(norm, forward), forward, out=out)


def _rn(self, s, dim, norm, out):
    x = _real(self)
    sizes, dims = _places(x, s, dim)
    x = _resized(x, dims, sizes)
    return end("_fft_r2c", x, dims, _scale(norm, True), True, out=out)


def _irn(self, s, dim, norm, out):
    x = _complex(self)
    sizes, dims, last = _halved(x, s, dim)
    x = _resized(x, dims, sizes)
    return end("_fft_c2r", x, dims, _scale(norm, False), last, out=out)


def _hn(self, s, dim, norm, out):
    x = _complex(self)
    sizes, dims, last = _halved(x, s, dim)
    x = _resized(x, dims, sizes)
    scale = _scale(norm, True)
    if len(dims) > 1:
        x = o._fft_c2c(x, dims[:-1], scale, True)
    x = _plainly_conjugated(x)
    return end("_fft_c2r", x, dims[-1:], scale, last, out=out)


def _ihn(self, s, dim, norm, out):
    x = _real(self)
    sizes, dims = _places(x, s, dim)
    x = _resized(x, dims, sizes)
    scale = _scale(norm, False)
    x = o._fft_r2c(x, dims[-1:], scale, True)
    if len(dims) == 1:
        return _conjugated(x, out)
    x = o._conj_physical(x)
    return end("_fft_c2c", x, dims[:-1], scale, False, out=out)


def _several(name: str, transform) -> None:
    @part(f"fft_{name}n")
    def of_all(self, s=None, dim=None, norm=None, *, out=None):
        return transform(self, s, dim, norm, out)

    @part(f"fft_{name}2")
    def of_two(self, s=None, dim=(-2, -1), norm=None, *, out=None):
        return transform(self, s, dim, norm, out)


_several("fft", lambda x, s, d, n, out: _cn(x, s, d, n, True, out))
_several("ifft", lambda x, s, d, n, out: _cn(x, s, d, n, False, out))
_several("rfft", _rn)
_several("irfft", _irn)
_several("hfft", _hn)
_several("ihfft", _ihn)


@part("stft")
def _stft(
    self,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    x = o.unsqueeze(self, 0) if self.dim() == 1 else self
    batch, count = x.shape
    if window is not None and length < n_fft:
        left = (n_fft - length) // 2
        wide = o.zeros([n_fft], dtype=window.dtype, layout=_C.strided, device=x.device)
        o.copy_(o("slice.Tensor", wide, 0, left, left + length), window)
        window = wide
    frames = 1 + (count - n_fft) // hop
    x = o.as_strided(
        x, [batch, frames, n_fft], [x.stride(0), hop * x.stride(1), x.stride(1)]
    )
    if window is not None:
        x = o("mul.Tensor", x, window)
    scale = 1 if normalized else 0
    one = not x.is_complex() if onesided is None else onesided
    if x.is_complex():
        x = o._fft_c2c(x, [2], scale, True)
    else:
        x = o._fft_r2c(x, [2], scale, one)
    # A history does not follow where sizes change in place.
    turn = "transpose.int" if x.requires_grad else "transpose_"
    x = o(turn, x, 1, 2)
    if self.dim() == 1:
        x = changed("squeeze_.dim", x, 0)
    return x if return_complex else o.view_as_real(x)
