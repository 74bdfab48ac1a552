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


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("rows", [2, 3, 40])
def test_gradients_are_those_of_cdist(p, rows):
    x = torch.randn(19, rows, dtype=torch.float64).t().requires_grad_()
    weights = torch.randn(rows * (rows - 1) // 2, dtype=torch.float64)
    (got,) = torch.autograd.grad((torch.pdist(x, p) * weights).sum(), x)
    i, j = torch.triu_indices(rows, rows, 1)
    distances = torch.cdist(x, x, p, "donot_use_mm_for_euclid_dist")[i, j]
    (want,) = torch.autograd.grad((distances * weights).sum(), x)
    assert torch.allclose(got, want)


def test_equal_rows_have_no_gradient():
    x = torch.ones(30, 7).requires_grad_()
    torch.pdist(x).sum().backward()
    assert torch.equal(x.grad, torch.zeros(30, 7))
