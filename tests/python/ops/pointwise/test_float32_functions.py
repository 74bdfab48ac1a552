"""Functions of float32 beside their own results in float64: activations,
special functions, those of two numbers, and gradients. Each has its limit, in
units in the last place of the result, or of a size where results swing around
zero or fade out.
"""

from __future__ import annotations

import math

import pytest

import hotaru as torch
from hotaru import _C

F = torch.nn.functional
COUNT = 10_001
# Without fused multiply-adds each product is rounded, too.
SLACK = 1 if _C._simd_target_name() in ("AVX2", "AVX3") else 2


def evenly(*ranges):
    return torch.cat(
        [torch.linspace(low, high, COUNT, dtype=torch.float64) for low, high in ranges]
    ).float()


def by_powers(low, high):
    return torch.linspace(low, high, COUNT, dtype=torch.float64).exp2().float()


def both_signs(x):
    return torch.cat([x, -x])


def near(*roots):
    steps = both_signs(by_powers(-24, -1)).double()
    return torch.cat([(root + steps).float() for root in roots])


def mixed(x):
    """In another order, so that two such lists meet as pairs."""
    torch.manual_seed(len(x))
    return x[torch.randperm(len(x))]


def special(name):
    return getattr(torch.special, name)


def slope(f):
    def derivative(x):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(f(x).sum(), x)[0]

    return derivative


AROUND = torch.cat([evenly((-20, 20), (-2, 2)), both_signs(by_powers(-30, 0))])
WAVES = evenly((-20, 20))
BELOW_1 = torch.cat([evenly((-0.99, 0.99)), both_signs(1 - by_powers(-24, 0))])
WIDE = torch.cat([evenly((-80, 80), (-6, 6)), both_signs(by_powers(-30, 0))])
POSITIVE = torch.cat([evenly((0.001, 80), (0.001, 3)), by_powers(-30, 0)])
CHANCES = torch.cat(
    [evenly((0.001, 0.999)), by_powers(-100, -1), 1 - by_powers(-24, -1)]
)


def tanh_gelu(x):
    return F.gelu(x, approximate="tanh")


# Functions of one number: with arguments, the limit and the size, if any.
ONE = {
    "rsqrt": (torch.rsqrt, by_powers(-120, 120), 1.5),
    "reciprocal": (torch.reciprocal, by_powers(-120, 120), 0.51),
    "sinh": (torch.sinh, evenly((-88, 88), (-2, 2)), 0.8),
    "cosh": (torch.cosh, evenly((-88, 88), (-2, 2)), 0.51),
    "asinh": (torch.asinh, both_signs(by_powers(-60, 60)), 1.6),
    "acosh": (torch.acosh, 1 + by_powers(-23, 30), 2.0),
    "atanh": (torch.atanh, BELOW_1, 0.51),
    "erfc": (torch.erfc, evenly((-4, 9), (-1, 1)), 1.3),
    "erfinv": (torch.erfinv, BELOW_1, 0.6),
    "lgamma": (
        torch.lgamma,
        torch.cat([evenly((0.001, 10)), by_powers(-60, 100), near(1, 2)]),
        0.6,
    ),
    "lgamma below 0": (torch.lgamma, evenly((-20, -0.001)), 0.6, 0.01),
    "digamma": (torch.digamma, evenly((0.01, 20)), 0.51, 0.01),
    "digamma below 0": (torch.digamma, evenly((-20, -0.001)), 0.51, 0.01),
    "sigmoid": (torch.sigmoid, evenly((-87, 20), (-2, 2)), 1.7),
    "silu": (F.silu, AROUND, 2.1),
    "logsigmoid": (F.logsigmoid, AROUND, 0.51),
    "softplus": (F.softplus, AROUND, 0.51),
    "softplus, beta": (lambda x: F.softplus(x, 2.5, 15), AROUND, 0.51),
    "mish": (F.mish, AROUND, 0.51),
    "elu": (F.elu, AROUND, 1.0),
    "selu": (F.selu, AROUND, 1.7),
    "celu": (lambda x: F.celu(x, 1.3), AROUND, 2.0),
    "gelu": (F.gelu, evenly((-1, 20)), 3.1),
    "gelu, far": (F.gelu, AROUND, 5, 1.0),
    "gelu by tanh": (tanh_gelu, evenly((-1, 20)), 2.5),
    "gelu by tanh, far": (tanh_gelu, evenly((-10, -1)), 200),
    "tanhshrink": (F.tanhshrink, AROUND, 1.0, 1.0),
    "softsign": (F.softsign, AROUND, 1.5),
    "hardswish": (F.hardswish, AROUND, 1.9),
    "entr": (special("entr"), by_powers(-60, 60), 0.51),
    "erfcx": (special("erfcx"), evenly((-5, 30)), 0.51),
    "log_ndtr": (special("log_ndtr"), evenly((-30, 12)), 0.51),
    "ndtr": (special("ndtr"), evenly((-12, 8), (-2, 2)), 1.0),
    "ndtri": (special("ndtri"), CHANCES, 0.6),
    "i0": (special("i0"), WIDE, 1.0),
    "i0e": (special("i0e"), WIDE, 1.0),
    "i1": (special("i1"), WIDE, 1.0),
    "i1e": (special("i1e"), WIDE, 1.0),
    "k0": (special("modified_bessel_k0"), POSITIVE, 3.5),
    "k1": (special("modified_bessel_k1"), POSITIVE, 2.5),
    "k0, scaled": (special("scaled_modified_bessel_k0"), POSITIVE, 3.5),
    "k1, scaled": (special("scaled_modified_bessel_k1"), POSITIVE, 2.5),
    "j0": (special("bessel_j0"), WAVES, 5, 0.1),
    "j1": (special("bessel_j1"), WAVES, 5, 0.1),
    "y0": (special("bessel_y0"), evenly((0.01, 20)), 5, 0.1),
    "y1": (special("bessel_y1"), evenly((0.01, 20)), 5, 0.1),
    "spherical j0": (special("spherical_bessel_j0"), WAVES, 0.6, 0.01),
    "airy_ai": (special("airy_ai"), evenly((-10, 10)), 16, 0.1),
    "polygamma(1)": (lambda x: torch.polygamma(1, x), evenly((0.1, 20)), 2.5),
    "polygamma(2)": (lambda x: torch.polygamma(2, x), evenly((0.1, 20)), 0.6),
    "2.5 ** x": (lambda x: 2.5**x, evenly((-60, 60)), 0.51),
    "x ** 4": (lambda x: x**4, both_signs(by_powers(-20, 20)), 0.51),
    "slope of tanh": (slope(torch.tanh), evenly((-5, 5)), 1.0, 1.0),
    "slope of mish": (slope(F.mish), AROUND, 0.6, 0.01),
    "slope of gelu by tanh": (slope(tanh_gelu), AROUND, 20, 1.0),
    "slope of softplus": (slope(F.softplus), AROUND, 2.0),
    "slope of erfinv": (slope(torch.erfinv), evenly((-0.9, 0.9)), 3.5),
    "slope of exp2": (slope(torch.exp2), evenly((-3, 3)), 1.5),
    "slope of lgamma": (slope(torch.lgamma), evenly((0.1, 10)), 0.6, 0.01),
}

SIGNED = both_signs(by_powers(-30, 30))
SMALL = evenly((-20, 20), (-3, 3))
TWO = {
    "pow": (torch.pow, by_powers(-3, 3), evenly((-30, 30)), 0.51),
    "atan2": (torch.atan2, SIGNED, SIGNED, 1.5),
    "hypot": (torch.hypot, SIGNED, SIGNED, 0.51),
    "logaddexp": (torch.logaddexp, SMALL, SMALL, 0.6, 0.01),
    "logaddexp2": (torch.logaddexp2, SMALL, SMALL, 0.6, 0.01),
    "xlogy": (torch.xlogy, SIGNED, both_signs(by_powers(-30, 30)).abs(), 1.6),
    "xlog1py": (torch.special.xlog1py, SIGNED, SIGNED.abs(), 0.51),
    "ldexp": (torch.ldexp, by_powers(-30, 30), evenly((-30, 30)), 0.51),
    "fmod": (torch.fmod, SIGNED / 2**20, SIGNED / 2**20, 0.0),
    "remainder": (torch.remainder, SIGNED / 2**20, SIGNED / 2**20, 0.51),
    "x / y": (torch.div, SIGNED, SIGNED, 0.51),
}


def worst(f, *arguments, size=0.0):
    """The greatest error, in units in the last place."""
    exact = f(*[x.double() for x in arguments])
    close = exact.abs().clamp_min(max(size, 2.0**-126)).float()
    unit = torch.nextafter(close, torch.tensor(math.inf)).double() - close
    error = (f(*arguments).double() - exact).abs() / unit
    return error[exact.abs() < 3e38].max().item()


@pytest.mark.parametrize("name", ONE)
def test_of_one_number(name):
    f, x, limit, *size = ONE[name]
    assert worst(f, x, size=sum(size)) <= limit * SLACK


@pytest.mark.parametrize("name", TWO)
def test_of_two_numbers(name):
    f, x, y, limit, *size = TWO[name]
    count = min(len(x), len(y))
    assert worst(f, x[:count], mixed(y[:count]), size=sum(size)) <= limit * (SLACK)


def test_zeta_in_float64():
    """Where the series needs more terms than ten: sums of powers."""
    for x, q in ((20.0, 10.1), (40.0, 3.3), (12.5, 9.9), (2.0, 11.0)):
        got = torch.special.zeta(
            torch.tensor(x, dtype=torch.float64), torch.tensor(q, dtype=torch.float64)
        ).item()
        terms = 3000
        want = math.fsum((q + k) ** -x for k in range(terms))
        end = q + terms
        want += end ** (1 - x) / (x - 1) + end**-x / 2
        want += x * end ** (-x - 1) / 12
        assert got == pytest.approx(want, rel=1e-14), (x, q)


def test_lgamma_of_its_roots():
    """They are positive zeros, as in PyTorch."""
    zeros = torch.lgamma(torch.tensor([1.0, 2.0] * 20))
    assert (zeros == 0).all()
    assert not zeros.signbit().any()
