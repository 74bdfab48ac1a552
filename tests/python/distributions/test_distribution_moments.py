"""Moments where they cease to exist, and their gradients there."""

from __future__ import annotations

import math

import pytest


@pytest.mark.parametrize("df", [0.5, 1.0, 2.0, 3.0])
def test_student_t_variance_has_no_slope_where_it_is_infinite(hotaru, df):
    free = hotaru.tensor(df, dtype=hotaru.float64, requires_grad=True)
    scale = hotaru.tensor(2.0, dtype=hotaru.float64, requires_grad=True)
    variance = hotaru.distributions.StudentT(free, 0.0, scale).variance
    slopes = hotaru.autograd.grad(variance, (free, scale))
    if df <= 1:
        assert math.isnan(variance)
    elif df <= 2:
        assert variance == math.inf
    else:
        assert variance == 12
    want = (-8.0, 12.0) if df > 2 else (0.0, 0.0)
    assert tuple(map(float, slopes)) == want
