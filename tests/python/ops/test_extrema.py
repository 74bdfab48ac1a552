"""Largest and smallest numbers of rows, beside Python's own."""

import math

import pytest

import hotaru as torch

INF, NAN = math.inf, math.nan
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
# Below a vector, whole ones, four of them at a time, and a rest.
LENGTHS = (1, 5, 16, 63, 64, 65, 100, 128, 1031)
# Infinities of both signs add up to NaN, which is not there.
ODD = ((), (NAN,), (INF,), (-INF,), (INF, -INF), (INF, -INF, NAN))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("odd", ODD)
def test_rows_with_numbers_that_are_not_finite(dtype, odd):
    torch.manual_seed(len(odd))
    for n in LENGTHS:
        x = torch.randn(3, n).to(dtype)
        if not odd:
            x[1] = -INF
        for value, place in zip(odd, torch.randint(0, n, (3,)).tolist()):
            x[1, place] = value
        for got, want in ((x.amax(1), max), (x.amin(1), min)):
            for row, number in zip(x.tolist(), got.tolist()):
                if any(math.isnan(v) for v in row):
                    assert math.isnan(number)
                else:
                    assert number == want(row)
