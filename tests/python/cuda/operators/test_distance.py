"""Distances of all pairs of rows and their gradients, as on the CPU."""

from __future__ import annotations

import pytest
from nearness import random

import hotaru as torch


@pytest.mark.parametrize("p", [0, 1, 2, 3.5, float("inf")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cdist(near, p, dtype):
    x = random(torch, 2, 3, 17, 21, dtype=dtype)
    y = random(torch, 2, 3, 300, 21, dtype=dtype, seed=1)
    if p != 2:
        # A distance of 0. Those of order 2 come from products and sums of
        # squares, whose rounding leaves its square root, as in PyTorch.
        y[0, 0, 4] = x[0, 0, 5]
    near(lambda x, y: torch.cdist(x, y, p), x, y, gradients=p > 0)
    near(lambda x, y: torch.cdist(x, y, p), x[0, 0], y[0, 0, :, :])
    near(lambda x, y: torch.cdist(x, y, p), x[:, :, :0], y, gradients=False)


def test_cdist_without_columns(cuda):
    x, y = torch.zeros(3, 0, device=cuda), torch.zeros(4, 0, device=cuda)
    assert torch.cdist(x, y).cpu().equal(torch.zeros(3, 4))


@pytest.mark.parametrize("p", [0, 1, 2, 3.5, float("inf")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pdist(near, p, dtype):
    x = random(torch, 70, 42, dtype=dtype)
    x[7] = x[3]  # a distance of 0

    def distances(x):
        return torch.pdist(x, p)

    near(distances, x, gradients=p > 0)
    for view in (x, x[:, ::2], x.t(), x[:2], x[:1], x[:0], x[:, :0]):
        near(distances, view, gradients=False)


def test_pdist_of_a_number_that_is_none(cuda):
    x = torch.zeros(3, 4, device=cuda)
    x[1, 2] = float("nan")
    for p in (1, 2, 3, float("inf")):
        assert torch.pdist(x, p).isnan().tolist() == [True, False, True]
