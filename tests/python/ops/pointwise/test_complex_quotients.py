"""Quotients of complex numbers: zeros have the signs that Smith's method gives
them, as in PyTorch, and complex64 is as complex128 where parts are infinite.
"""

from __future__ import annotations

import itertools
import math

import pytest

import hotaru as torch

PARTS = [0.0, -0.0, 1.0, -1.0, 2.0, -3.0]
DTYPES = [torch.complex64, torch.complex128]


def numbers(parts):
    return [complex(re, im) for re, im in itertools.product(parts, parts)]


def smith(x, y):
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if abs(c) >= abs(d):
        ratio = d / c
        size = c + d * ratio
        return complex((a + b * ratio) / size, (b - a * ratio) / size)
    ratio = c / d
    size = c * ratio + d
    return complex((a * ratio + b) / size, (b * ratio - a) / size)


PAIRS = [(x, y) for x in numbers(PARTS) for y in numbers(PARTS) if y != 0]


def assert_same(got, want, operands):
    for number, right, pair in zip(got.tolist(), want, operands, strict=True):
        for part in ("real", "imag"):
            one, other = getattr(number, part), getattr(right, part)
            # A third is rounded on Smith's way, and what cancels leaves that.
            assert one == pytest.approx(other, rel=1e-6, abs=1e-6), pair
            if other == 0:
                assert one == 0, pair
                assert math.copysign(1, one) == math.copysign(1, other), pair


def operands(dtype):
    x, y = zip(*PAIRS, strict=True)
    return torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_signs_of_zeros(dtype):
    x, y = operands(dtype)
    want = [smith(*pair) for pair in PAIRS]
    assert_same(x / y, want, PAIRS)
    assert_same(x.clone().div_(y), want, PAIRS)
    apart = torch.stack([y, y], 1)[:, 0]  # by strides
    assert_same(x / apart, want, PAIRS)
    some = slice(None, None, 97)
    alone = torch.stack([a / b for a, b in zip(x[some], y[some], strict=True)])
    assert_same(alone, want[some], PAIRS[some])


@pytest.mark.parametrize("dtype", DTYPES)
def test_reciprocals(dtype):
    ones = [(complex(1, 0), y) for y in numbers(PARTS) if y != 0]
    got = torch.tensor([y for _, y in ones], dtype=dtype).reciprocal()
    assert_same(got, [smith(*pair) for pair in ones], ones)


def same_parts(x, y):
    """Compares parts: any NaN is as good, zeros have their sign."""
    x, y = torch.view_as_real(x).double(), torch.view_as_real(y).double()
    both_nan = x.isnan() & y.isnan()
    same = (x == y) & (x.signbit() == y.signbit())
    return (both_nan | same).all(-1)


def test_infinities():
    """C99, annex G, which complex128 takes from the C library."""
    parts = [0.0, -0.0, 1.0, -2.0, math.inf, -math.inf, math.nan]
    ends = [z for z in numbers(parts) if not math.isfinite(abs(z))]
    pairs = [(x, y) for x in ends for y in numbers(parts)]
    pairs += [(x, y) for x in numbers(parts) for y in ends]
    x, y = zip(*pairs, strict=True)
    got = torch.tensor(x, dtype=torch.complex64) / torch.tensor(
        y, dtype=torch.complex64
    )
    want = torch.tensor(x, dtype=torch.complex128) / torch.tensor(
        y, dtype=torch.complex128
    )
    same = same_parts(got, want)
    assert same.all(), [pairs[i] for i in (~same).nonzero()[:5, 0].tolist()]
