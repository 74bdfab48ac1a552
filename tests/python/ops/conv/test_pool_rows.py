"""Maximum pooling gives the same values with and without positions."""

from __future__ import annotations

import itertools

import pytest

import hotaru as torch

F = torch.nn.functional


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("stride", [1, 2, 3, 4, 5])
def test_values_do_not_depend_on_whether_positions_are_asked_for(dtype, stride):
    torch.manual_seed(0)
    shapes = itertools.product((1, 5, 33), (3, 7, 16, 35, 70))
    for (height, width), kernel, pad, ceil in itertools.product(
        shapes, (1, 2, 3, 5), (0, 1, 2), (False, True)
    ):
        if pad > kernel // 2 or min(height, width) + 2 * pad < kernel:
            continue
        x = torch.randn(2, 3, height, width, dtype=dtype)
        x[0, 0, 0, 0] = float("nan")
        x[1, 2, -1, -1] = float("nan")
        got = F.max_pool2d(x, kernel, stride, pad, ceil_mode=ceil)
        want, _ = F.max_pool2d(
            x, kernel, stride, pad, ceil_mode=ceil, return_indices=True
        )
        same = (got == want) | (got.isnan() & want.isnan())
        assert got.shape == want.shape, (height, width, kernel, pad, ceil)
        assert same.all(), (height, width, kernel, pad, ceil)
