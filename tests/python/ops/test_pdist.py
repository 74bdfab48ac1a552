"""Distances of pairs are those of cdist above the diagonal."""

from __future__ import annotations

import pytest

import hotaru as torch


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 40])
def test_each_pair_of_rows_once(p, rows):
    x = torch.randn(19, rows).t()
    i, j = torch.triu_indices(rows, rows, 1)
    want = torch.cdist(x, x, p)[i, j]
    got = torch.pdist(x, p)
    assert got.shape == want.shape
    assert torch.allclose(got, want, atol=1e-5)
    recorded = torch.pdist(x.clone().requires_grad_(), p)
    assert torch.allclose(recorded.detach(), got, atol=1e-5)
