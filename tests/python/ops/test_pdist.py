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


@pytest.mark.parametrize("p", [0.0, 1.0, 1.5, 2.0, 2.5, 7.0, float("inf")])
@pytest.mark.parametrize("which", ["cdist", "pdist"])
def test_gradients_can_be_differentiated(which, p):
    """PyTorch refuses their second derivatives."""
    torch.manual_seed(0)
    x = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    y = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)

    def distances(x, y):
        if which == "pdist":
            return torch.pdist(x[0], p) + 0 * y.sum()
        mode = "donot_use_mm_for_euclid_dist"
        return torch.cdist(x, y, p, mode)

    def slopes(x, y):
        total = distances(x, y).sin().sum()
        return torch.autograd.grad(total, (x, y), create_graph=True)

    assert torch.autograd.gradgradcheck(distances, (x, y))
    assert torch.autograd.gradgradcheck(slopes, (x, y))


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_recorded_gradients_of_equal_rows(p):
    """The first gradient is what it was, and its slope a finite number."""
    x = torch.tensor([[1.0, 2.0], [1.0, 2.0], [1.0, 5.0]], requires_grad=True)
    for f in (lambda: torch.cdist(x, x, p), lambda: torch.pdist(x, p)):
        (want,) = torch.autograd.grad(f().sum(), x)
        (got,) = torch.autograd.grad(f().sum(), x, create_graph=True)
        assert torch.equal(got, want)
        assert got.requires_grad
        (second,) = torch.autograd.grad(got.square().sum(), x)
        assert second.isfinite().all()
