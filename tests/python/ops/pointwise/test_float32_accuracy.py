"""Elementary functions of float32 lie within one unit in the last place of
the result in float64; within two where the processor has no multiply-adds.
"""

from __future__ import annotations

import pytest

import hotaru as torch

# Just above 0.74 log2 is what two numbers nearly cancel to.
LIMITS = {"tanh": 1.05, "log2": 1.35}


def evenly(low, high):
    return torch.linspace(low, high, 100_001)


def by_powers(low, high):
    return torch.linspace(low, high, 100_001, dtype=torch.float64).exp2().float()


RANGES = {
    "exp": [evenly(-87, 88)],
    "exp2": [evenly(-125, 127)],
    "expm1": [evenly(0.01, 3), evenly(-20, 88), by_powers(-120, 0)],
    "log": [evenly(0.5, 2), by_powers(-120, 120)],
    "log2": [evenly(0.5, 2), by_powers(-120, 120)],
    "log10": [evenly(0.5, 2), by_powers(-120, 120)],
    "log1p": [evenly(0.01, 3), evenly(-0.99, 0.5), by_powers(-120, 60)],
    "sin": [evenly(0.1, 1.5), evenly(-100, 100)],
    "cos": [evenly(0.1, 1.5), evenly(-100, 100)],
    "tan": [evenly(0.1, 1.5)],
    "asin": [evenly(-1, 1), by_powers(-120, 0)],
    "acos": [evenly(-1, 1)],
    "atan": [evenly(0.1, 1.5), by_powers(-120, 120)],
    "sinh": [evenly(-10, 10)],
    "cosh": [evenly(-10, 10)],
    "tanh": [evenly(-10, 10), by_powers(-120, 0)],
    "atanh": [evenly(-0.99, 0.99)],
    "erf": [evenly(-4, 4)],
    "sqrt": [by_powers(-120, 120)],
}


def units(name, x):
    """The error of each element, in units in the last place."""
    f = getattr(torch, name)
    exact = f(x.double())
    size = exact.float().abs()
    unit = torch.nextafter(size, torch.tensor(3e38)).double() - size.double()
    return (f(x).double() - exact).abs() / unit


@pytest.mark.parametrize("name", RANGES)
def test_units_in_the_last_place(name):
    for x in RANGES[name]:
        assert units(name, x).max().item() < LIMITS.get(name, 1.0)


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("size", [1, 7, 16, 33])
def test_tails_are_the_same(name, size):
    """An element has the same bits wherever in a run it stands."""
    x = RANGES[name][0][:: 100_001 // 40]
    whole = getattr(torch, name)(x)
    assert torch.equal(getattr(torch, name)(x[:size].clone()), whole[:size])


SPECIAL = [0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan")]
INF, NAN = float("inf"), float("nan")
EDGES = {
    "expm1": [0.0, -0.0, 1.7182817459, -0.6321205497, INF, -1.0, NAN],
    "log1p": [0.0, -0.0, 0.6931471825, -INF, INF, NAN, NAN],
    "log2": [-INF, -INF, 0.0, NAN, INF, NAN, NAN],
    "log10": [-INF, -INF, 0.0, NAN, INF, NAN, NAN],
    "sin": [0.0, -0.0, 0.8414709568, -0.8414709568, NAN, NAN, NAN],
    "cos": [1.0, 1.0, 0.5403022766, 0.5403022766, NAN, NAN, NAN],
    "tan": [0.0, -0.0, 1.5574077368, -1.5574077368, NAN, NAN, NAN],
    "asin": [0.0, -0.0, 1.5707963705, -1.5707963705, NAN, NAN, NAN],
    "acos": [1.5707963705, 1.5707963705, 0.0, 3.1415927410, NAN, NAN, NAN],
    "atan": [0.0, -0.0, 0.7853981853, -0.7853981853, 1.5707963705, -1.5707963705, NAN],
    "tanh": [0.0, -0.0, 0.7615941763, -0.7615941763, 1.0, -1.0, NAN],
    "erf": [0.0, -0.0, 0.8427007794, -0.8427007794, 1.0, -1.0, NAN],
}


@pytest.mark.parametrize("name", EDGES)
def test_at_the_edges(name):
    got = getattr(torch, name)(torch.tensor(SPECIAL * 5))
    want = torch.tensor(EDGES[name] * 5)
    torch.testing.assert_close(got, want, rtol=2e-7, atol=0, equal_nan=True)
    zeros = want == 0
    assert torch.equal(got.signbit()[zeros], want.signbit()[zeros])


def test_expm1_at_both_ends_of_the_range():
    x = torch.tensor([88.72, 89.0, 1e-40, -1e-40, -104.0])
    got = torch.expm1(x)
    assert got[0].item() == pytest.approx(3.3931806e38, rel=1e-6)
    assert got[1:].tolist() == [INF, x[2].item(), x[3].item(), -1.0]
