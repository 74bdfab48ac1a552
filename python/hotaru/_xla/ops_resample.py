"""Interpolation of images."""

from __future__ import annotations

import math

from .ops_pool import along
from .table import row
from .values import Val


def _sizes(x: Val, size, factors, single) -> tuple[list, list]:
    """Output sizes, and the factors that were given (None where not)."""
    n = x.rank - 2
    given = factors if factors is not None else [f for f in single if f]
    given = list(given or []) or [None] * n
    if size is None:
        size = [math.floor(s * f) for s, f in zip(x.shape[2:], given)]
    return list(size), given


@row("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
def nearest(
    w,
    self=None,
    output_size=None,
    scale_factors=None,
    scales=None,
    scales_d=None,
    scales_h=None,
    scales_w=None,
    input=None,
):
    x = self if self is not None else input
    single = (scales, scales_d, scales_h, scales_w)
    sizes, factors = _sizes(x, output_size, scale_factors, single)
    for i, (size, factor) in enumerate(zip(sizes, factors)):
        dim, old = i + 2, x.shape[i + 2]
        if size == old:
            continue
        if size % old == 0 and factor in (None, size // old):
            times = size // old
            apart = [*x.shape[: dim + 1], times, *x.shape[dim + 1 :]]
            dims = [d for d in range(x.rank + 1) if d != dim + 1]
            shape = [*x.shape[:dim], size, *x.shape[dim + 1 :]]
            x = w.reshape(w.spread(x, apart, dims), shape)
            continue
        step = 1 / factor if factor else old / size
        rows = []
        for o in range(size):
            at = min(int(o * step), old - 1)
            rows.append([float(j == at) for j in range(old)])
        x = along(w, x, dim, rows)
    return x


@row("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")
def linear(
    w,
    self=None,
    output_size=None,
    align_corners=False,
    scale_factors=None,
    scales=None,
    scales_d=None,
    scales_h=None,
    scales_w=None,
    input=None,
):
    x = self if self is not None else input
    single = (scales, scales_d, scales_h, scales_w)
    sizes, factors = _sizes(x, output_size, scale_factors, single)
    for i, (size, factor) in enumerate(zip(sizes, factors)):
        old = x.shape[i + 2]
        if size != old:
            rows = _linear_rows(old, size, factor, align_corners)
            x = along(w, x, i + 2, rows)
    return x


def _linear_rows(old: int, size: int, factor, align_corners: bool) -> list:
    if align_corners:
        step = (old - 1) / (size - 1) if size > 1 else 0.0
    else:
        step = 1 / factor if factor else old / size
    rows = []
    for o in range(size):
        at = o * step if align_corners else max((o + 0.5) * step - 0.5, 0.0)
        low = min(int(at), old - 1)
        high = min(low + 1, old - 1)
        share = at - low
        row = [0.0] * old
        row[low] += 1 - share
        row[high] += share
        rows.append(row)
    return rows
