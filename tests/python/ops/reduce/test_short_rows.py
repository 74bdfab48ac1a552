"""Operators that go another way for short rows, runs of a mask or columns that
are one value.
"""

from __future__ import annotations

import numpy as np
import pytest

import hotaru as torch


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((100, 100), (20, 20)),
        ((3, 4), (5, 6)),
        ((4, 3, 8), (9, 2)),
        ((9, 2), (4, 3, 8)),
        ((5,), (7,)),
        ((8, 4), (8, 1)),
        ((8, 1), (8, 4)),
        ((8, 3), (4, 200)),
        ((8, 3), (0, 5)),
        ((6, 2), (6, 0)),
        ((), (4, 4)),
    ],
)
def test_kronecker_products(left, right):
    random = np.random.default_rng(1)
    x, y = random.normal(size=left), random.normal(size=right)
    got = torch.kron(torch.tensor(x), torch.tensor(y)).numpy()
    want = np.kron(x, y)
    assert got.shape == want.shape
    assert (got == want).all()


def test_kronecker_products_of_short_rows_have_gradients():
    x = torch.randn(8, 3, dtype=torch.float64, requires_grad=True)
    y = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.kron, (x, y))
    out = torch.kron(torch.ones(8, 3, dtype=torch.int32), torch.ones(7, 2))
    assert out.dtype == torch.float32


@pytest.mark.parametrize("count", [1, 7, 8, 9, 255, 256, 257, 5000])
@pytest.mark.parametrize("kind", ["int8", "float32", "int64", "complex128"])
def test_masks_with_runs(count, kind):
    random = np.random.default_rng(count)
    x = random.integers(0, 100, count).astype(kind)
    for density in (0, 0.01, 0.5, 0.99, 1):
        mask = random.random(count) < density
        mask[count // 3 : 2 * count // 3] = density > 0.3
        for at in (slice(None), slice(None, None, -1)):
            chosen = np.ascontiguousarray(mask[at])
            got = torch.tensor(x).masked_select(torch.tensor(chosen))
            assert (got.numpy() == x[chosen]).all()


@pytest.mark.parametrize("kind", ["int8", "float32", "float64", "complex128"])
def test_copies_of_expanded_columns_and_rows(kind):
    x = np.arange(33).astype(kind)
    column = torch.tensor(x)[:, None].expand(33, 40).contiguous()
    assert (column.numpy() == np.repeat(x, 40).reshape(33, 40)).all()
    row = torch.tensor(x).expand(40, 33).t().contiguous()
    assert (row.numpy() == column.numpy()).all()
