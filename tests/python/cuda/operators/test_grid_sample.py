"""Pictures sampled at points and the gradients, as on the CPU."""

from __future__ import annotations

import pytest
from nearness import random

import hotaru as torch


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(
    ("mode", "dims"),
    [("bilinear", 2), ("bilinear", 3), ("nearest", 2), ("nearest", 3), ("bicubic", 2)],
)
def test_grid_sample(near, mode, dims, padding, align):
    sides = (4, 5, 7)[-dims:]
    x = random(torch, 2, 3, *sides, dtype="float64")
    grid = random(torch, 2, *(6, 9, 5)[-dims:], dims, dtype="float64", seed=1)

    def sample(x, grid):
        return torch.nn.functional.grid_sample(x, grid, mode, padding, align)

    near(sample, x, grid)
    near(sample, x.half(), grid.half().clamp(-2, 2), gradients=False)
    lost = grid.clone()
    lost[0, 0, 0] = float("nan")
    want = sample(x, lost)
    got = sample(x.cuda(), lost.cuda()).cpu()
    assert got.isnan().equal(want.isnan())
    near(sample, x[:0], grid[:0])
