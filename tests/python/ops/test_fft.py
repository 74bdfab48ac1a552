"""Fourier transforms: precision at all kinds of lengths, strides, streams."""

from __future__ import annotations

import math

import numpy as np
import pytest

# One of each way: butterflies, near lines (whose columns overlap at 480 and
# 720), four steps of each sort, convolution.
LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    16,
    17,
    24,
    30,
    31,
    64,
    67,
    143,
    243,
    256,
    289,
    300,
    480,
    720,
    768,
    1000,
    1001,
    1009,
    4096,
    30030,
    65536,
    65537,
]


def exact(x, n=None):
    """numpy's, of x in float64; of short lines the definition's sum."""
    x = np.asarray(x, dtype=np.complex128)
    if x.shape[-1] > 300:
        return np.fft.fft(x)
    n = x.shape[-1]
    jk = np.outer(np.arange(n), np.arange(n)) % n
    angle = jk.astype(np.longdouble) * (-2 * np.arctan2(0, np.longdouble(-1)))
    angle /= n
    return x.astype(np.clongdouble) @ (np.cos(angle) + 1j * np.sin(angle))


def error(got, want) -> float:
    """Error of norms, in units of the dtype's precision."""
    got = got.numpy()
    assert got.shape == want.shape
    eps = np.finfo(got.dtype).eps
    return float(np.linalg.norm(got - want) / np.linalg.norm(want) / eps)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", LENGTHS)
def test_precision(hotaru, n, dtype):
    fft, rng = hotaru.fft, np.random.default_rng(n)
    most = 0.5 * (math.log2(n) + 2)
    for lines in (1, 3, 20) if n < 2000 else (1,):
        x = rng.standard_normal((lines, n)).astype(dtype)
        z = x + 1j * rng.standard_normal((lines, n)).astype(dtype)
        ours, real = hotaru.tensor(z), hotaru.tensor(x)
        assert error(fft.fft(ours), exact(z)) < most
        down = fft.fft(ours.t().contiguous(), dim=0)
        assert error(down, exact(z).T) < most
        assert error(fft.ifft(ours), exact(z.conj()).conj() / n) < most
        whole = exact(x)
        assert error(fft.fft(real), whole) < most
        down = fft.fft(real.t().contiguous(), dim=0)
        assert error(down, whole.T) < most
        assert error(fft.fft(real.t(), dim=0), whole.T) < most
        assert error(fft.ifft(real), whole.conj() / n) < most
        half = whole[:, : n // 2 + 1]
        assert error(fft.rfft(real), half) < most
        assert error(fft.rfft(real.t().contiguous(), dim=0), half.T) < most
        back = fft.irfft(fft.rfft(real.double()), n=n)
        assert (back - real).abs().max() < 1e-13 * most


@pytest.mark.parametrize("n", [6, 17, 64, 600])
def test_strides(hotaru, n):
    fft = hotaru.fft
    wide = hotaru.randn(5, 2 * n, 3, dtype=hotaru.complex128)
    for name in ("fft", "ifft", "irfft", "hfft"):
        f = getattr(fft, name)
        x = wide[:, ::2]
        assert hotaru.equal(f(x, dim=1), f(x.contiguous(), dim=1))
        x = wide.real[:, 1::2].transpose(0, 1)
        assert hotaru.allclose(f(x, dim=0), f(x.contiguous(), dim=0))
    x = wide.imag[:, 1::2]
    lines = fft.rfft(x.transpose(1, 2).contiguous()).transpose(1, 2)
    assert hotaru.allclose(fft.rfft(x, dim=1), lines)
    assert hotaru.allclose(fft.rfft(x[:1].expand(4, -1, -1), dim=1)[3], lines[0])


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "irfft", "hfft"])
@pytest.mark.parametrize("lines", [1, 40])
def test_expanded_lines(hotaru, name, lines):
    """Lines of one element, one line at a time and in tiles."""
    transform = getattr(hotaru.fft, name)
    for n in (*range(1, 17), 64, 1000):
        for dtype in (hotaru.float32, hotaru.float64, hotaru.complex64):
            if name in ("rfft", "ihfft") and dtype.is_complex:
                continue
            x = hotaru.arange(1, lines + 1)[:, None].to(dtype).expand(lines, n)
            for line, dim in ((x, 1), (x.mT, 0)):
                if name in ("irfft", "hfft") and n == 1:
                    continue  # of no points
                y = transform(line, dim=dim)
                hotaru.testing.assert_close(y, transform(line.contiguous(), dim=dim))


def test_real_planes(hotaru):
    """The last dimension is mirrored before the others are transformed."""
    for shape in ((3, 16, 18), (3, 7, 9), (2, 40, 1)):
        x = hotaru.randn(*shape, dtype=hotaru.float64)
        z = hotaru.complex(x, hotaru.zeros_like(x))
        for name in ("fftn", "ifftn"):
            f = getattr(hotaru.fft, name)
            assert hotaru.allclose(f(x), f(z))
            for norm in ("ortho", "forward"):
                got = f(x, dim=(2, 0), norm=norm)
                assert hotaru.allclose(got, f(z, dim=(2, 0), norm=norm))
        assert hotaru.equal(hotaru.fft.fftn(x, dim=()), z)


@pytest.mark.parametrize("n", [6, 9, 64])
def test_gradients_of_all_points_of_real_lines(hotaru, n):
    weight = hotaru.randn(3, n, dtype=hotaru.complex128)
    x = hotaru.randn(3, n, dtype=hotaru.float64, requires_grad=True)
    for f in (hotaru.fft.fft, hotaru.fft.ifft, hotaru.fft.fft2):
        found = [
            hotaru.autograd.grad((f(v) * weight).abs().square().sum(), x)[0]
            for v in (x, x + 0j)
        ]
        assert hotaru.allclose(*found)


def test_linear(hotaru):
    a, b = hotaru.randn(2, 3, 90, dtype=hotaru.complex128)
    f = hotaru.fft.fft2
    assert hotaru.allclose(f(a * 2j + b), f(a) * 2j + f(b))


def test_lines_do_not_touch_each_other(hotaru):
    x = hotaru.ones(20, 48)
    x[7, 3] = math.nan
    bad = hotaru.fft.rfft(x).isnan().any(1)
    assert bad.nonzero().tolist() == [[7]]


def test_what_stands_for_nothing_is_ignored(hotaru):
    """Imaginary parts of the first and the middle number."""
    for n in (8, 9, 1024, 4097):
        x = hotaru.fft.rfft(hotaru.randn(n, dtype=hotaru.float64))
        y = x.clone()
        y[0] += 3j
        if n % 2 == 0:
            y[-1] += 3j
        both = [hotaru.fft.irfft(v, n=n) for v in (x, y)]
        assert hotaru.allclose(*both, atol=1e-12)


@pytest.mark.parametrize("n", [48, 67, 4096])
def test_queued_and_in_a_graph(hotaru, n):
    def f(x):
        y = hotaru.fft.irfft(hotaru.fft.rfft(x, dim=0), n=n, dim=0)
        z = hotaru.stft(y.t(), 16, window=w, return_complex=True)
        return hotaru.fft.fftn(y) + z.abs().sum()

    w = hotaru.hann_window(16)
    x = hotaru.randn(n, 19)
    want = f(x)
    with hotaru.cpu.stream(hotaru.cpu.Stream()):
        queued = f(x)
    assert hotaru.equal(queued, want)
    compiled = hotaru.compile(f)
    for _ in range(3):
        assert hotaru.equal(compiled(x), want)


def test_threads_change_nothing(hotaru):
    x = hotaru.randn(3, 65536)
    before = hotaru.get_num_threads()
    found = []
    for threads in (1, 4):
        hotaru.set_num_threads(threads)
        found.append((hotaru.fft.rfft(x), hotaru.fft.fft(x[0, :65000])))
        lines = x.view(-1, 512)
        for f in (hotaru.fft.fft, hotaru.fft.rfft, hotaru.fft.irfft):
            found[-1] += (f(lines), f(lines.t(), dim=0))
    hotaru.set_num_threads(before)
    assert len(found[0]) == 8
    assert all(hotaru.equal(a, b) for a, b in zip(*found))


def test_near_lines_in_place(hotaru):
    """A plane's second transform writes over what it reads."""
    for n in (64, 256, 480):
        x = hotaru.randn(2, n, n, dtype=hotaru.complex128)
        want = hotaru.fft.fft(hotaru.fft.fft(x, dim=2), dim=1)
        assert hotaru.allclose(hotaru.fft.fftn(x, dim=(2, 1)), want)
        assert hotaru.allclose(hotaru.fft.ifftn(want, dim=(1, 2)), x)


def test_signals_come_back(hotaru):
    x = hotaru.randn(2, 200, dtype=hotaru.float64)
    w = hotaru.hann_window(30, dtype=hotaru.float64)
    for center, more in ((True, {}), (True, {"normalized": True})):
        y = hotaru.stft(x, 32, 7, 30, w, center, return_complex=True, **more)
        z = hotaru.istft(y, 32, 7, 30, w, center, length=193, **more)
        assert hotaru.allclose(z, x[:, :193])


def test_short_time_transforms_in_torchscript(hotaru):
    def f(x, w):
        # type: (Tensor, Tensor) -> Tensor
        y = hotaru.stft(x, 8, 2, 8, w, return_complex=True)
        return hotaru.istft(y, 8, 2, 8, w) + hotaru.fft.rfft(x).abs().sum()

    x, w = hotaru.randn(32), hotaru.hann_window(8)
    scripted = hotaru.jit.trace(f, (x, w))
    assert hotaru.allclose(scripted(x, w), f(x, w))


def test_gradient_of_a_scalar_is_refused(hotaru):
    for dim in (0, -1, [0]):
        with pytest.raises(IndexError, match="tensor has no dimensions"):
            hotaru.gradient(hotaru.tensor(3.0), dim=dim)


def test_too_many_combinations_are_refused(hotaru):
    x = hotaru.arange(4.0)
    for r, repeats in ((1 << 40, True), (100_000, True), (1 << 62, True)):
        with pytest.raises(RuntimeError, match="too many"):
            hotaru.combinations(x, r, repeats)
    assert hotaru.combinations(x, 1 << 62).shape[0] == 0


def test_short_time_transforms_warn(hotaru):
    x, w = hotaru.randn(32), hotaru.ones(8)
    with pytest.warns(UserWarning, match="A window was not provided"):
        y = hotaru.stft(x, 8, return_complex=True)
    with pytest.warns(UserWarning, match="return_complex=False is deprecated"):
        parts = hotaru.stft(x, 8, window=w, return_complex=False)
    assert hotaru.equal(hotaru.view_as_complex(parts), y)
    with pytest.warns(UserWarning, match="signal is shorter than the length"):
        z = hotaru.istft(y, 8, window=w, length=50)
    assert z[40:].abs().max() == 0
