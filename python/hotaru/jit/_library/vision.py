"""Resampling as compiled code sees it: Python picks operators by name."""

# A BroadcastingListN takes one number in place of N; Python has no such type.
# ruff: noqa: F821
from __future__ import annotations

import math

import hotaru as torch
from hotaru import Tensor


def _per_axis(values: list[float], axes: int) -> list[float]:
    if len(values) == 1:
        return [values[0] for _ in range(axes)]
    if len(values) != axes:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial "
            f"dimensions, but got {axes} and {len(values)}"
        )
    return values


def _size_per_axis(values: list[int], axes: int) -> list[int]:
    if len(values) == 1:
        return [values[0] for _ in range(axes)]
    if len(values) != axes:
        raise ValueError(
            "Input and output must have the same number of spatial "
            f"dimensions, but got {axes} and {len(values)}"
        )
    return values


def interpolate(
    input: Tensor,
    size: BroadcastingList1[int] | None = None,
    scale_factor: BroadcastingList1[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    axes = input.dim() - 2
    plain = mode == "nearest" or mode == "area" or mode == "nearest-exact"
    corners = False
    if antialias:
        raise NotImplementedError(
            "interpolate: antialias is not supported in compiled code"
        )
    if align_corners is not None:
        if plain:
            raise ValueError(
                "align_corners option can only be set with the interpolating "
                "modes: linear | bilinear | bicubic | trilinear"
            )
        corners = align_corners
    full: list[int] | None = None
    factors: list[float] | None = None
    if size is not None:
        if scale_factor is not None:
            raise ValueError(
                "only one of size or scale_factor should be defined"
            )
        full = _size_per_axis(size, axes)
    elif scale_factor is not None:
        factors = _per_axis(scale_factor, axes)
        recompute = mode == "area"
        if recompute_scale_factor is not None:
            recompute = recompute or recompute_scale_factor
        if recompute:
            rounded: list[int] = []
            for i in range(axes):
                rounded.append(math.floor(input.size(i + 2) * factors[i]))
            full = rounded
            factors = None
    else:
        raise ValueError("either size or scale_factor should be defined")
    if mode == "nearest":
        if axes == 1:
            return torch.upsample_nearest1d(input, full, factors)
        if axes == 2:
            return torch.upsample_nearest2d(input, full, factors)
        if axes == 3:
            return torch.upsample_nearest3d(input, full, factors)
    if mode == "nearest-exact":
        if axes == 1:
            return torch._upsample_nearest_exact1d(input, full, factors)
        if axes == 2:
            return torch._upsample_nearest_exact2d(input, full, factors)
        if axes == 3:
            return torch._upsample_nearest_exact3d(input, full, factors)
    if mode == "area" and full is not None:
        if axes == 1:
            return torch.adaptive_avg_pool1d(input, full)
        if axes == 2:
            return torch.adaptive_avg_pool2d(input, full)
        if axes == 3:
            return torch.adaptive_avg_pool3d(input, full)
    if mode == "linear" and axes == 1:
        return torch.upsample_linear1d(input, full, corners, factors)
    if mode == "bilinear" and axes == 2:
        return torch.upsample_bilinear2d(input, full, corners, factors)
    if mode == "bicubic" and axes == 2:
        return torch.upsample_bicubic2d(input, full, corners, factors)
    if mode == "trilinear" and axes == 3:
        return torch.upsample_trilinear3d(input, full, corners, factors)
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
        f"{input.dim()}D) for the modes: nearest | linear | bilinear | "
        f"bicubic | trilinear | area | nearest-exact (got {mode})"
    )
