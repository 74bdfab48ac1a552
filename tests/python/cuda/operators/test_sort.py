"""Sorting, selecting and searching, which give the CPU's results exactly."""

from __future__ import annotations

import pytest
from nearness import random

import hotaru as torch

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "bool",
)
# Around what a block sorts, and what it takes two merges to join.
LENGTHS = (1, 2, 37, 1023, 1024, 1025, 2048, 5000)


def numbers(dtype, *shape):
    """With many equal ones, and NaN, infinities and both zeros of floats."""
    x = (random(torch, *shape) * 20).round()
    x = x.clamp(0, 30) if dtype in {"uint8", "bool"} else x
    if dtype.startswith(("float", "bfloat")):
        x[x == 5] = float("nan")
        x[x == 6] = -0.0
        x[x == 7] = float("inf")
        x[x == -7] = -float("inf")
    return x.to(getattr(torch, dtype))


def same(got, want):
    for g, w in zip(got, want):
        assert g.device.type == "cuda"
        assert g.dtype == w.dtype
        g = g.cpu()
        if w.is_floating_point():
            assert g.isnan().equal(w.isnan())
            g, w = g.nan_to_num(0.5), w.nan_to_num(0.5)
        assert g.equal(w)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sort(cuda, dtype):
    for length in LENGTHS:
        x = numbers(dtype, 3, length)
        for descending in (False, True):
            options = {"descending": descending, "stable": True}
            same(x.to(cuda).sort(**options), x.sort(**options))
            columns = x.mT
            same(
                columns.to(cuda).sort(dim=0, **options), columns.sort(dim=0, **options)
            )


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_runs(cuda, dtype):
    for length in (0, *LENGTHS):
        x = numbers(dtype, length)
        for values in (x, x.sort().values, x.repeat(2)[::2]):
            same([values.to(cuda).unique_consecutive()], [values.unique_consecutive()])


@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_selections(cuda, dtype):
    for length in LENGTHS:
        x = numbers(dtype, 4, length)
        on_cuda = x.to(cuda)
        k = (length + 2) // 3
        for largest in (False, True):
            got, at = on_cuda.topk(k, 1, largest)
            want, _ = x.topk(k, 1, largest)
            same([got], [want])
            same([on_cuda.gather(1, at)], [want])
        same(on_cuda.kthvalue(k, 1), x.kthvalue(k, 1))
        same(on_cuda.median(1), x.median(1))
        same(on_cuda.mode(1), x.mode(1))
        same([on_cuda.median()], [x.median()])
        if x.is_floating_point():
            same(on_cuda.nanmedian(1), x.nanmedian(1))
    nothing = torch.full((2, 5), float("nan"))
    same(nothing.to(cuda).nanmedian(1), nothing.nanmedian(1))


def test_gradients(cuda, near):
    x = random(torch, 6, 50)
    near(lambda x: x.sort(1)[0], x)
    near(lambda x: x.topk(7, 0 if x.shape[0] > 7 else 1)[0], x)
    near(lambda x: x.kthvalue(9, 1, keepdim=True)[0], x)
    near(lambda x: x.median(1)[0], x)


@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_searchsorted(cuda, dtype):
    for length in (1, 30, 2000):
        rows = numbers(dtype, 3, length).sort(1)[0]
        values = numbers(dtype, 3, 70)
        order = random(torch, 3, length).argsort(1)
        mixed = torch.empty_like(rows).scatter(1, order, rows)
        for right in (False, True):
            for out_int32 in (False, True):
                options = {"right": right, "out_int32": out_int32}
                want = torch.searchsorted(rows, values, **options)
                got = torch.searchsorted(rows.to(cuda), values.to(cuda), **options)
                same([got], [want])
                got = torch.searchsorted(
                    mixed.to(cuda), values.to(cuda), sorter=order.to(cuda), **options
                )
                same([got], [want])
            want = torch.bucketize(values, rows[0], right=right)
            got = torch.bucketize(values.to(cuda), rows[0].to(cuda), right=right)
            same([got], [want])


def test_isin(cuda):
    x = numbers("int64", 300)
    some = torch.tensor([3, 7, -4, 100])
    same([torch.isin(x.to(cuda), some.to(cuda))], [torch.isin(x, some)])
