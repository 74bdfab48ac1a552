"""Special functions of single precision, which have code of their own, agree
with those of double precision.
"""

from __future__ import annotations

import pytest

import hotaru as torch

S = torch.special
INF, NAN = float("inf"), float("nan")

# Name, least and greatest argument, units in the last place. What is beyond
# those of the fits is the exponential's argument, rounded before.
CASES = [
    ("entr", 0, 10, 8),
    ("i0", -80, 80, 16),
    ("i0", -6, 6, 8),
    ("i0e", -100, 100, 8),
    ("i1", -80, 80, 16),
    ("i1", -6, 6, 8),
    ("i1e", -100, 100, 8),
    ("modified_bessel_k0", 1e-6, 1.9, 16),
    ("modified_bessel_k0", 1.9, 80, 8),
    ("modified_bessel_k1", 1e-6, 1.9, 16),
    ("modified_bessel_k1", 1.9, 80, 8),
    ("scaled_modified_bessel_k0", 1e-6, 1.9, 16),
    ("scaled_modified_bessel_k0", 1.9, 500, 8),
    ("scaled_modified_bessel_k1", 1e-6, 1.9, 16),
    ("scaled_modified_bessel_k1", 1.9, 500, 8),
    ("erfinv", -1, 1, 8),
    ("ndtri", 1e-7, 0.4, 8),
    ("ndtri", 0.6, 1, 8),
    ("ndtr", -1, 10, 8),
    ("ndtr", -13, -1, 32),
    ("airy_ai", 1, 20, 16),
    ("bessel_y0", 1e-6, 0.5, 16),
    ("bessel_y1", 1e-6, 1, 16),
    ("gammaln", 1e-6, 0.5, 8),
    ("gammaln", 0.5, 3, 16),
    ("gammaln", 3, 60, 8),
    ("gammaln", 60, 1e30, 8),
    ("erf", -5, 5, 6),
    ("erf", -1e-3, 1e-3, 6),
    ("erfc", -5, 1, 6),
    ("erfc", 0.7, 9, 6),
]

# Functions that swing around zero are near in absolute terms.
WAVES = [
    ("airy_ai", -50, 1),
    ("airy_ai", -20000, -9000),
    ("bessel_j0", -80, 80),
    ("bessel_j0", 9.9e5, 1.1e6),
    ("bessel_j1", -80, 80),
    ("bessel_y0", 0.5, 80),
    ("bessel_y1", 1, 80),
    # Numbers up to 4 are subtracted, each within 2 units of 2^-22.
    ("gammaln", -4.5, 0.5),
    ("spherical_bessel_j0", -80, 80),
    ("spherical_bessel_j0", 9.9e5, 1.1e6),
]


@pytest.mark.parametrize(("name", "low", "high", "units"), CASES)
def test_floats_are_near_the_doubles(name, low, high, units):
    f = getattr(S, name)
    x = torch.linspace(low, high, 20011)
    want, got = f(x.double()), f(x).double()
    finite = want.isfinite()
    error = (got - want).abs()[finite]
    scale = want.abs()[finite].clamp(min=2.0**-126)
    assert got.isfinite().equal(want.float().isfinite()), name
    assert (error / scale).max() < units * 2.0**-24, name


@pytest.mark.parametrize(("name", "low", "high"), WAVES)
def test_waves_of_floats_are_near_those_of_doubles(name, low, high):
    f = getattr(S, name)
    x = torch.linspace(low, high, 20011)
    error = (f(x.double()) - f(x).double()).abs() / f(x.double()).abs().clamp(min=1)
    assert error[~error.isnan()].max() < 2.0**-20, name
    assert error.isnan().sum() < 10, name


@pytest.mark.parametrize("name", sorted({case[0] for case in CASES + WAVES}))
def test_ends_of_the_domain_are_those_of_doubles(name):
    f = getattr(S, name)
    x = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 1e-40, INF, -INF, NAN])
    want, got = f(x.double()).float(), f(x)
    assert got.isnan().equal(want.isnan()), (name, got, want)
    known = ~want.isnan() & (want.isinf() | (want == 0))
    assert got[known].equal(want[known]), (name, got, want)


@pytest.mark.parametrize("name", sorted({case[0] for case in CASES + WAVES}))
def test_pieces_meet(name):
    f = getattr(S, name)
    x = torch.tensor([0.5, 1, 1.5, 2, 3, 4, 5, 8, 10])
    x = torch.cat([x, -x, x * (1 + 1e-6), x * (1 - 1e-6), x * (1e-6 - 1)])
    want, got = f(x.double()), f(x).double()
    error = (got - want).abs() / want.abs().clamp(min=1)
    assert error[want.float().isfinite()].max() < 2.0**-20, name


@pytest.mark.parametrize("low", [-20.5, 1e-18, 0.001, 0.9, 1, 5, 1e9])
def test_second_derivative_of_log_gamma(low):
    x = torch.linspace(low, abs(low) * 20, 20011)
    want, got = torch.polygamma(1, x.double()), torch.polygamma(1, x).double()
    finite = want.abs() < 3e38
    assert (got / want - 1)[finite].abs().max() < 8 * 2.0**-24
    assert got[~finite].isinf().all()
    ends = torch.tensor([0.0, -0.0, 1e-40, INF, NAN])
    assert torch.polygamma(1, ends)[:4].tolist() == [INF, INF, INF, 0]
    assert torch.polygamma(1, ends)[4].isnan()


GAMMAS = ["gammainc", "gammaincc"]


@pytest.mark.parametrize("name", GAMMAS)
@pytest.mark.parametrize("most", [0.01, 1, 8, 100, 300, 2e4])
def test_incomplete_gammas_of_floats_are_near_the_doubles(name, most):
    torch.manual_seed(1)
    f, a = getattr(S, name), torch.rand(3001) * most
    for x in (torch.rand(3001) * most, a + 1, a * 1.1, a * 0.9, a * 0.1):
        want, got = f(a.double(), x.double()), f(a, x).double()
        scale = want.clamp(min=2.0**-126)
        assert ((got - want).abs() / scale).max() < 2.0**-23, most


@pytest.mark.parametrize("name", GAMMAS)
def test_ends_of_incomplete_gammas(name):
    s = [0.0, 1e-45, 1e-30, 1e-3, 0.5, 1, 99, 101, 1e4, 2e4, 1e30, INF, NAN]
    s += [-1.0, -INF]
    a, x = torch.tensor(s).reshape(-1, 1), torch.tensor(s)
    f = getattr(S, name)
    want, got = f(a.double(), x.double()).float(), f(a, x)
    assert got.isnan().equal(want.isnan())
    assert torch.allclose(got, want, 2.0**-22, 0, equal_nan=True)
    # The same whatever the neighbours are.
    for i, part in enumerate(s):
        for j, other in enumerate(s):
            one = f(torch.tensor([part]), torch.tensor([other]))
            assert one.nan_to_num().equal(got[i, j : j + 1].nan_to_num())


def test_tiny_probabilities_have_quantiles():
    p = torch.tensor([1e-45, 1e-40, 1e-38, 1e-30, 1e-20, 1e-10])
    want = S.ndtri(p.double())
    assert ((S.ndtri(p).double() - want) / want).abs().max() < 1e-6


def test_parts_of_floats():
    tiny = [1e-45, -1e-40, 2.0**-126]
    x = torch.tensor([0.0, -0.0, 1, -3, 0.3, *tiny, 3e38, INF, -INF, NAN])
    mantissa, exponent = x.frexp()
    wide, want = x.double().frexp()
    assert exponent.dtype == torch.int32
    assert exponent.equal(want)
    assert mantissa.double()[:-1].equal(wide[:-1])
    assert mantissa[-1].isnan()
    assert mantissa[1].signbit()


def test_strided_floats_are_those_of_rows():
    x = torch.randn(64, 48)
    assert S.i0e(x.t()).equal(S.i0e(x).t())


@pytest.mark.parametrize(
    "name",
    [
        *(f"chebyshev_polynomial_{kind}" for kind in "tuvw"),
        "hermite_polynomial_h",
        "hermite_polynomial_he",
        "laguerre_polynomial_l",
        "legendre_polynomial_p",
    ],
)
def test_polynomials_do_not_depend_on_their_neighbours_degrees(name):
    f = getattr(S, name)
    x = torch.cat([torch.linspace(-3, 3, 301), torch.tensor([-1.0, 0, 1, INF, NAN])])
    for degree in (-1, 0, 1, 2, 5, 5.5, 8, 9, NAN):
        same = torch.full_like(x, degree)
        mixed = torch.stack([same, torch.arange(x.numel()) % 7.0], 1)
        want = f(torch.stack([x, x], 1), mixed)[:, 0]
        for got in (f(x, same), f(x, degree), f(x[:2], same[:2])):
            part = want[: got.numel()]
            assert got.isnan().equal(part.isnan()), (name, degree)
            assert got.nan_to_num().equal(part.nan_to_num()), (name, degree)
