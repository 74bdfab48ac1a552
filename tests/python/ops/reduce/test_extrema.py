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


@pytest.mark.parametrize("dtype", [*DTYPES, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("shape", [(2, 8), (7, 9), (40, 513), (3, 1100), (5, 3)])
@pytest.mark.parametrize("largest", [True, False])
def test_columns_as_rows_of_the_transpose(dtype, shape, largest):
    """Columns side by side go by whole rows, those of a copy line by line."""
    torch.manual_seed(shape[1])
    x = torch.randint(-9, 9, shape).to(dtype)  # many equal ones
    if dtype.is_floating_point:
        x[torch.rand(shape) < 0.1] = NAN
        x[torch.rand(shape) < 0.1] = INF if largest else -INF
    lines = x.t().contiguous()
    whole = torch.stack([x, x.flip(0)])  # the kept sizes have two parts
    for of, want, dim in ((x, lines, 0), (whole[0], lines, 0)):
        name = "max" if largest else "min"
        values, places = getattr(of, name)(dim)
        wanted, rows = getattr(want, name)(1)
        assert places.tolist() == rows.tolist()
        assert torch.equal(values.nan_to_num(), wanted.nan_to_num())
        assert torch.equal(values != values, wanted != wanted)
        assert torch.equal(getattr(of, "arg" + name)(dim), rows)
    both = getattr(whole, "arg" + name)(1)
    assert torch.equal(both[0], rows)
    assert torch.equal(both[1], getattr(x.flip(0).contiguous(), "arg" + name)(0))
    # Results of other strides
    values = torch.empty(1, 2 * shape[1]).to(dtype)[:, ::2]
    places = torch.empty(1, 2 * shape[1], dtype=torch.int64)[:, ::2]
    getattr(torch, name)(x, 0, keepdim=True, out=(values, places))
    assert places[0].tolist() == rows.tolist()
