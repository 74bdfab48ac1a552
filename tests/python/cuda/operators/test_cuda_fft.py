"""Fourier transforms on a CUDA device beside the CPU's in double precision."""

from __future__ import annotations

import math

import pytest

UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
# One pass of each kind and several; the longest lines that a block holds, and
# one more point; lines in two and three steps; as a convolution, in a block and
# in steps.
LENGTHS = (
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    16,
    61,
    67,
    144,
    360,
    509,
    1024,
    1025,
    2048,
    2050,
    6006,
    4099,
    2**16,
)


def assert_near(t, got, want, n):
    """Errors of a transform are some sqrt(log2 n) roundings in the mean (J.
    Schatzman, "Accuracy of the discrete Fourier transform and the fast Fourier
    transform", 1996); log2 n of them are there for three transforms of a
    convolution, and two for the ends.
    """
    assert got.is_cuda
    assert got.shape == want.shape
    single = got.dtype in (t.float32, t.complex64)
    unit = UNIT["float32" if single else "float64"]
    got = got.cpu().to(want.dtype)
    error = float((got - want).abs().square().sum().sqrt())
    size = float(want.abs().square().sum().sqrt())
    assert error <= unit * (2 + math.log2(n)) * size, (error / size / unit, n)


def real(t, *shape, dtype="float64", seed=0):
    t.manual_seed(seed)
    return t.randn(*shape).to(getattr(t, dtype))


def numbers(t, *shape, dtype="float64"):
    parts = (real(t, *shape, dtype=dtype, seed=k) for k in range(2))
    return t.complex(*parts)


@pytest.mark.parametrize("dtype", UNIT)
@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(hotaru, cuda, n, dtype):
    t, f = hotaru, hotaru.fft
    lines = 300 if n < 10 else 2
    x = numbers(t, lines, n, dtype=dtype)
    wide = x.to(t.complex128)
    for g in (f.fft, f.ifft):
        assert_near(t, g(x.to(cuda)), g(wide), n)
    r = x.real.contiguous()
    assert_near(t, f.rfft(r.to(cuda)), f.rfft(r.double()), n)
    assert_near(t, f.fft(r.to(cuda)), f.fft(wide.real + 0j), n)
    # Parts that count as nothing are there.
    half, most = x[:, : n // 2 + 1], wide[:, : n // 2 + 1]
    assert_near(t, f.irfft(half.to(cuda), n=n), f.irfft(most, n=n), n)


def test_three_steps(hotaru, cuda):
    t = hotaru
    n = 2**20
    x = numbers(t, n)
    assert_near(t, t.fft.fft(x.to(cuda)), t.fft.fft(x), n)


def test_known_lines(hotaru, cuda):
    """A wave is one point, to whichever way it was cut."""
    t = hotaru
    for n in (12, 1000, 4096, 4099):
        k = n // 3
        j = t.arange(n, dtype=t.float64)
        angle = (j * k % n) * (2 * math.pi / n)
        wave = t.complex(angle.cos(), angle.sin()).to(cuda)
        out = t.fft.fft(wave).cpu()
        assert int(out.abs().argmax()) == k
        assert abs(complex(out[k]) - n) < 1e-12 * n
        out[k] = 0
        assert float(out.abs().max()) < 1e-12 * n


@pytest.mark.parametrize("n", [6, 67, 3000])
def test_dimensions_and_strides(hotaru, cuda, n):
    t, f = hotaru, hotaru.fft
    x = numbers(t, 3, n, 5)
    g = x.to(cuda)
    for view in (
        lambda x: f.fft(x, dim=1),
        lambda x: f.fft(x.transpose(1, 2), dim=1),
        lambda x: f.fft(x[:, ::2, 1:].permute(2, 0, 1), dim=2),
        lambda x: f.ifft(x[1:, :, 2], dim=-1),
        lambda x: f.fft(x[0, :, :1].expand(n, 4), dim=0),
        lambda x: f.fft2(x, dim=(1, 2)),
        lambda x: f.ifftn(x),
        lambda x: f.rfft2(x.real, dim=(2, 1)),
        lambda x: f.rfftn(x.real),
        lambda x: f.irfftn(x),
        lambda x: f.irfft(x.transpose(0, 1), n=n + 1, dim=0),
        lambda x: f.hfft(x, dim=1),
        lambda x: f.ihfft(x.real, dim=1),
        lambda x: f.fft(x, n=n + 3, dim=1),
    ):
        assert_near(t, view(g), view(x), 15 * n)
    for norm in ("forward", "backward", "ortho"):
        assert_near(t, f.fft(g, dim=1, norm=norm), f.fft(x, dim=1, norm=norm), n)
        assert_near(t, f.irfft(g, dim=1, norm=norm), f.irfft(x, dim=1, norm=norm), n)


def test_many_lines(hotaru, cuda):
    """More than blocks take one each, which they share."""
    t = hotaru
    for shape, dim in (((700, 24), 1), ((24, 700), 0), ((9, 130, 7), 1)):
        x = numbers(t, *shape)
        got = t.fft.fft(x.to(cuda), dim=dim)
        assert_near(t, got, t.fft.fft(x, dim=dim), shape[dim])


def test_nothing(hotaru, cuda):
    t = hotaru
    x = t.zeros(0, 4, dtype=t.complex64, device=cuda)
    assert t.fft.fft(x).shape == (0, 4)
    assert t.fft.irfft(x).shape == (0, 6)
    with pytest.raises(RuntimeError, match="Invalid number of data points"):
        t.fft.fft(x, dim=0)


def test_nan_stays_in_its_line(hotaru, cuda):
    t = hotaru
    for n in (30, 67, 3000):
        x = t.zeros(9, n, dtype=t.complex64)
        x[5, n // 2] = math.nan
        out = t.fft.fft(x.to(cuda)).cpu()
        assert out.isnan().all(1).nonzero().tolist() == [[5]]
        assert int(out.isnan().any(1).sum()) == 1


def test_what_stands_for_nothing_is_ignored(hotaru, cuda):
    """Imaginary parts of the first and the middle number, whatever they are."""
    t = hotaru
    for n in (8, 9, 67, 134, 4096):
        x = t.fft.rfft(real(t, n))
        y = t.view_as_real(x.clone())
        y[0, 1] = math.nan
        if n % 2 == 0:
            y[-1, 1] = math.inf
        y = t.view_as_complex(y)
        assert_near(t, t.fft.irfft(y.to(cuda), n=n), t.fft.irfft(x, n=n), n)


def test_gradients(hotaru, cuda):
    t, f = hotaru, hotaru.fft
    for g in (
        lambda x: f.rfft(x).abs().square().sum(),
        lambda x: f.irfft(x.to(t.complex128), n=13).square().sum(),
        lambda x: f.fft2(x).abs().sum(),
    ):
        grads = []
        for device in ("cpu", cuda):
            x = real(t, 4, 12).to(device).requires_grad_()
            g(x).backward()
            grads.append(x.grad)
        assert_near(t, grads[1], grads[0], 2**20)


def test_windows(hotaru, cuda):
    t = hotaru
    x, window = real(t, 2, 900), t.hann_window(128, dtype=t.float64)

    def stft(x, window):
        return t.stft(x, 128, 50, window=window, return_complex=True)

    there = stft(x.to(cuda), window.to(cuda))
    assert_near(t, there, stft(x, window), 128)
    back = t.istft(there, 128, 50, window=window.to(cuda), length=900)
    assert_near(t, back, x, 128)


def test_same_bits_each_time(hotaru, cuda):
    t = hotaru
    for n in (100, 67, 5000):
        x = numbers(t, 3, n).to(cuda)
        assert t.fft.fft(x).equal(t.fft.fft(x))
