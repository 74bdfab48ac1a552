"""Sums of many float32 err by a few units in the last place, whichever way
the dimensions lie: partial sums are summed in turn.
"""

from __future__ import annotations

import pytest

import hotaru as torch

CASES = [
    ((1_000_000,), 0),
    ((100_000, 64), 0),
    ((100_000, 7), 0),
    ((100_000, 4), 0),
    ((64, 100_000), 1),
    ((20, 20_000, 16), 1),
    ((4, 50_000, 16), (0, 1)),
    ((16, 300, 300), (0, 2)),
    ((2, 8, 300, 300), (0, 2, 3)),
]


def numbers(shape):
    torch.manual_seed(3)
    return torch.rand(shape)


def error(got, want):
    return ((got.double() - want) / want).abs().max().item()


@pytest.mark.parametrize(("shape", "dim"), CASES)
@pytest.mark.parametrize("backwards", [False, True])
def test_sums(shape, dim, backwards):
    x = numbers(shape)
    if backwards:  # the same numbers, the last dimension outermost
        x = x.movedim(-1, 0).contiguous().movedim(0, -1)
    assert error(x.sum(dim), x.double().sum(dim)) < 2.5e-7
    assert error(x.mean(dim), x.double().mean(dim)) < 2.5e-7
    norm = torch.linalg.vector_norm(x, dim=dim)
    wide = torch.linalg.vector_norm(x.double(), dim=dim)
    assert error(norm, wide) < 2.5e-7


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1023, 1024, 1025, 16400])
def test_counts_around_the_steps(count):
    """Whole numbers, whose sums are exact."""
    x = (torch.arange(count * 5) % 7).float().reshape(count, 5)
    want = x.double().sum(0)
    assert torch.equal(x.sum(0).double(), want)
    rows = x.reshape(count, 5, 1).expand(count, 5, 2).transpose(0, 1)
    assert torch.equal(rows.sum((1, 2)).double(), 2 * want)
    assert torch.equal(x.amax(0), x.double().amax(0).float())
    assert torch.equal((x % 2).prod(0), (x.double() % 2).prod(0).float())
