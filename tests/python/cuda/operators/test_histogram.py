"""Histograms, as on the CPU: counts are equal, sums of weights near."""

from __future__ import annotations

import pytest
from nearness import assert_near, random

import hotaru as torch

DTYPES = ("float32", "float64")


def on_both(f, *tensors):
    """The results of f on the CPU and on CUDA, the latter brought back."""
    want = f(*tensors)
    got = f(*(x.cuda() for x in tensors))
    assert all(y.device.type == "cuda" for y in got)
    return want, [y.cpu() for y in got]


def assert_counts_equal(f, *tensors):
    want, got = on_both(f, *tensors)
    for x, y in zip(want, got):
        assert x.dtype == y.dtype
        assert x.equal(y)


def assert_histogram_equal(x, bins, **options):
    """Compares bins with linspace's edges, which CUDA rounds once more."""
    edges = torch.histogram(x, bins, **options)[1]
    counts, used = torch.histogram(x.cuda(), bins, **options)
    assert_near(torch, used, edges, terms=4)
    options.pop("range", None)
    want = torch.histogram(x, used.cpu(), **options)[0]
    assert counts.cpu().equal(want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bins", [1, 7, 4096, 4097])
def test_counts_of_equal_bins(cuda, dtype, bins):
    x = random(torch, 90, 101, dtype=dtype)
    x[3, 4], x[5, 6], x[7] = float("nan"), 2.0, -1.5
    for view in (x, x.t()[::3], x[:, ::2], x[:0], x[0, 0]):
        assert_histogram_equal(view, bins, range=(-1.5, 2.0))
        assert_counts_equal(lambda x: [torch.histc(x, bins, -1.5, 2)], view)


@pytest.mark.parametrize("dtype", DTYPES)
def test_counts_between_edges(cuda, dtype):
    x = random(torch, 5000, dtype=dtype)
    edges = torch.tensor([-3, -1, -1, 0, 0.25, 2, 4]).to(x.dtype)
    x[:7], x[7] = edges, float("nan")
    spread = torch.stack([edges, edges * 0], 1)[:, 0]  # an odd stride
    for e in (edges, spread, edges[:2], edges[:1]):
        assert_counts_equal(torch.histogram, x, e)
    many = random(torch, 5000, dtype=dtype, seed=1).sort()[0]
    assert_counts_equal(torch.histogram, x, many)


def test_the_range_is_that_of_the_elements(cuda):
    x = random(torch, 3000)
    assert_histogram_equal(x, 10)
    edges = torch.histogram(x, 10)[1]
    assert_counts_equal(lambda x, e: torch.histogram(x, e, density=True), x, edges)
    assert_counts_equal(lambda x: [torch.histc(x, 10)], x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bins", [6, 5000])
def test_sums_of_weights(cuda, dtype, bins):
    x = random(torch, 4000, dtype=dtype)
    weight = random(torch, 8000, dtype=dtype, seed=1)[::2]
    edges = torch.linspace(-4, 4, bins + 1, dtype=x.dtype)
    want, got = on_both(
        lambda x, e, w: torch.histogram(x, e, weight=w), x, edges, weight
    )
    of = torch.histogram(x, edges)[0].max().item()
    sums = torch.histogram(x, edges, weight=weight.abs())[0]
    assert_near(torch, got[0].cuda(), want[0], terms=of, scale=sums.max().item())
    nothing = torch.histogram(x[:0].cuda(), edges.cuda(), weight=weight[:0].cuda())
    assert nothing[0].cpu().equal(torch.zeros(bins, dtype=x.dtype))


def test_counts_go_past_what_a_float_counts_to(cuda):
    """2^24 + 1 has no float below 2^24 + 2: counted up one by one it would stay
    behind.
    """
    n = 2**24 + 3
    x = torch.zeros(1, device=cuda).expand(n)
    assert torch.histc(x, 3, -1, 1).tolist() == [0, 2**24 + 4, 0]


def test_several_columns(cuda):
    x = random(torch, 900, 2)
    assert_counts_equal(
        lambda x: [torch.histogramdd(x, [4, 5], range=[-2, 2, -1, 1])[0]], x
    )
