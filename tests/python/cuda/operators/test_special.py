"""Special functions on a CUDA device beside the CPU's.

Where the C++ library has no counterpart on devices (Bessel's functions and
Airy's) other series are summed there, so results agree but for rounding.
"""

from __future__ import annotations

import math

import pytest

UNARY = (
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "entr",
    "erfcx",
    "erfinv",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "ndtr",
    "ndtri",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "spherical_bessel_j0",
)
POLYNOMIALS = (
    *(f"chebyshev_polynomial_{kind}" for kind in "tuvw"),
    *(f"shifted_chebyshev_polynomial_{kind}" for kind in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
)
# Oscillate about 0: absolute errors count beside the amplitude, 1 or less.
WAVES = ("airy_ai", "bessel_", "spherical")


def arguments(t):
    """Where series change into each other, both ends of each, and extremes."""
    edges = [0, 1e-8, 0.5, 1, 2, 5, 9.5, 10, 20, 25, 26.7, 100]
    near = [x * (1 + e) for x in edges for e in (-1e-15, 0, 1e-15)]
    rare = [math.inf, math.nan, 1e-300, 1e300]
    x = t.tensor(near + rare, dtype=t.float64)
    some = t.linspace(-30, 30, 601, dtype=t.float64)
    return t.cat([x, -x, some, some / 30])


def assert_same(t, got, want, relative, absolute=0.0):
    assert got.is_cuda
    assert got.dtype == want.dtype
    got, want = got.cpu().double(), want.double()
    near = (got - want).abs() <= relative * want.abs() + absolute
    close = near | (got == want) | (got.isnan() & want.isnan())
    assert close.all(), (got[~close], want[~close])


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(hotaru, cuda, name):
    t = hotaru
    f = getattr(t.special, name)
    x = arguments(t)
    waves = name.startswith(WAVES)
    # Some 60 terms of either sign, each rounded: 60 * 2**-53 * 2 at most. Far
    # to the left Airy's is a wave of a phase that is rounded itself.
    turn = 2.0**-52 * x.abs() ** 1.5 if name == "airy_ai" else 0
    assert_same(t, f(x.to(cuda)), f(x), 2e-14, 2e-14 + turn if waves else 0)
    # A float's own code on the CPU is within 2e-6, waves within 5e-7.
    x = x[x.abs() < 1e5].float()
    assert_same(t, f(x.to(cuda)), f(x), 4e-6, 1e-6 if waves else 1e-37)


def test_functions_of_one_number_in_16_bits(hotaru, cuda):
    t = hotaru
    for dtype in (t.float16, t.bfloat16):
        x = t.linspace(-0.99, 0.99, 301).to(dtype)
        for name in ("entr", "erfinv", "i0", "i0e", "i1", "i1e", "ndtr"):
            f = getattr(t.special, name)
            assert_same(t, f(x.to(cuda)), f(x), 2.0**-7)


def test_polynomials(hotaru, cuda):
    t = hotaru
    x = t.linspace(-2, 2, 41, dtype=t.float64)
    degrees = t.tensor([-1, 0, 1, 2, 3.7, 8, 9, 20], dtype=t.float64)
    for name in POLYNOMIALS:
        f = getattr(t.special, name)
        want = f(x[:, None], degrees)
        assert_same(t, f(x.to(cuda)[:, None], degrees.to(cuda)), want, 1e-13)
        assert_same(t, f(x.to(cuda), 5), f(x, 5), 1e-13)
        assert_same(t, f(0.25, degrees.to(cuda)), f(0.25, degrees), 1e-13)


def test_functions_of_two_numbers(hotaru, cuda):
    t = hotaru
    x = t.tensor(
        [0, 0.1, 1, 2, 3.5, 30, 400, -1.5, math.inf, math.nan], dtype=t.float64
    )
    for f in (
        t.special.gammainc,
        t.special.gammaincc,
        t.special.zeta,
        t.special.xlog1py,
    ):
        want = f(x[:, None], x)
        got = f(x.to(cuda)[:, None], x.to(cuda))
        # At 400 and 400: exp of a sum of terms of up to 2400, each rounded to
        # a few last places by another library.
        gamma = f in (t.special.gammainc, t.special.gammaincc)
        assert_same(t, got, want, 2400 * 2.0**-52 * 8 if gamma else 1e-13)
        assert_same(t, got.float(), f(x.float()[:, None], x.float()), 2e-5, 1e-6)


def test_places_and_sizes(hotaru, cuda):
    t = hotaru
    x = t.linspace(0.1, 0.9, 4200, dtype=t.float64).reshape(60, 70)
    for view in (
        lambda x: x[::3, 1:].t(),
        lambda x: x[:1].expand(5, 70),
        lambda x: x.as_strided((30, 30), (3, 5), 7),
        lambda x: x[:0],
        lambda x: x[3, 4],
    ):
        for f in (t.special.i0e, t.erfinv, lambda x: t.special.zeta(x + 2, x)):
            assert_same(t, f(view(x.to(cuda))), f(view(x)), 1e-13)
    y = x.to(cuda)
    y[:, ::2].erfinv_()
    assert_same(t, y[:, ::2], x[:, ::2].erfinv(), 1e-13)
    assert_same(t, y[:, 1::2], x[:, 1::2], 0)


def test_gradients(hotaru, cuda):
    t = hotaru
    for f in (t.erfinv, t.special.i1, t.special.entr, t.special.log_ndtr):
        grads = []
        for device in ("cpu", cuda):
            x = t.linspace(0, 0.9, 33, dtype=t.float64, device=device)
            x.requires_grad_()
            f(x).sum().backward()
            grads.append(x.grad)
        assert_same(t, grads[1], grads[0], 1e-13)


def test_refuses(hotaru, cuda):
    t = hotaru
    with pytest.raises(RuntimeError, match="not implemented for 'Half'"):
        t.special.erfcx(t.ones(2, dtype=t.float16, device=cuda))
