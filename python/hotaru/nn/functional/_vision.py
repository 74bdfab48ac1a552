"""Resampling of pictures and volumes, and sliding blocks."""

# A BroadcastingListN is one number or N of them: the compiler's name for it,
# which Python does not look at.
# ruff: noqa: F821
from __future__ import annotations

import math
import warnings

from ... import Tensor, ops

# mode -> spatial axes -> operator; the flag says whether align_corners applies.
_RESAMPLERS = {
    "nearest": (
        False,
        {
            1: "upsample_nearest1d",
            2: "upsample_nearest2d",
            3: "upsample_nearest3d",
        },
    ),
    "nearest-exact": (
        False,
        {
            1: "_upsample_nearest_exact1d",
            2: "_upsample_nearest_exact2d",
            3: "_upsample_nearest_exact3d",
        },
    ),
    "area": (
        False,
        {
            1: "adaptive_avg_pool1d",
            2: "adaptive_avg_pool2d",
            3: "adaptive_avg_pool3d",
        },
    ),
    "linear": (True, {1: "upsample_linear1d"}),
    "bilinear": (True, {2: "upsample_bilinear2d"}),
    "bicubic": (True, {2: "upsample_bicubic2d"}),
    "trilinear": (True, {3: "upsample_trilinear3d"}),
}


def interpolate(
    input: Tensor,
    size: int | list[int] | None = None,
    scale_factor: float | list[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resamples the spatial axes of (N, C, *) to `size` or by `scale_factor`.

    Args:
        input: what to resample.
        size: spatial size of the result.
        scale_factor: or its ratio to that of the input.
        mode: nearest, nearest-exact, area (any axes), linear (1), bilinear,
            bicubic (2), trilinear (3).
        align_corners: whether the corner values stay in the corners; only for
            the linear and cubic modes.
        recompute_scale_factor: derive the scale from the rounded size.
        antialias: low-pass before shrinking; bilinear and bicubic only.

    Raises:
        ValueError: arguments that contradict each other.
        NotImplementedError: a mode that does not fit the number of axes.
    """
    takes_corners, by_axes = _RESAMPLERS.get(mode, (True, {}))
    if not takes_corners:
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating "
                "modes: linear | bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False

    axes = input.dim() - 2
    size, factors = _targets(input, size, scale_factor, axes)
    if recompute_scale_factor and size is not None:
        raise ValueError(
            "recompute_scale_factor is not meaningful with an explicit size."
        )
    if mode == "area" and size is None:
        recompute_scale_factor = True
    if recompute_scale_factor:
        spatial = input.shape[2:]
        size = [math.floor(have * f) for have, f in zip(spatial, factors)]
        factors = None
    if antialias and not (mode in ("bilinear", "bicubic") and axes == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and "
            "requires a 4-D tensor as input"
        )
    if axes not in by_axes:
        _fail_mode(input, mode, axes)
    if mode == "area":
        return getattr(ops, by_axes[axes])(input, size)
    name = by_axes[axes]
    if antialias:
        name = f"_{name}_aa"
    if takes_corners:
        return getattr(ops, name)(input, size, align_corners, factors)
    return getattr(ops, name)(input, size, factors)


def _targets(input: Tensor, size, scale_factor, axes: int) -> tuple:
    """(size, None) or (None, factors), one value an axis."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    given = scale_factor if size is None else size
    values = list(given) if isinstance(given, (list, tuple)) else [given] * axes
    if len(values) != axes:
        if size is None:
            other, shown, form = (
                "scale_factor",
                f"scale_factor of shape {given}",
                "s",
            )
        else:
            other, shown, form = "output size", f"output size of {given}", "o"
        names = ", ".join([f"{form}1", f"{form}2", "..."]) + f",{form}K"
        partner = "output" if size is not None else "scale_factor"
        raise ValueError(
            f"Input and {partner} must have the same number of spatial "
            "dimensions, but got input with spatial dimensions of "
            f"{list(input.shape[2:])} and {shown}. Please provide input tensor "
            f"in (N, C, d1, d2, ...,dK) format and {other} in ({names}) format."
        )
    return (None, values) if size is None else (values, None)


def _fail_mode(input: Tensor, mode: str, axes: int) -> None:
    by_axes = _RESAMPLERS.get(mode, (True, {}))[1]
    if by_axes and axes in (1, 2, 3):
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs "
            f"{next(iter(by_axes)) + 2}D input"
        )
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported "
        f"(got {input.dim()}D) for the modes: nearest | linear | bilinear | "
        f"bicubic | trilinear | area | nearest-exact (got {mode})"
    )


def upsample(
    input: Tensor,
    size: BroadcastingList1[int] | None = None,
    scale_factor: BroadcastingList1[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Old name of `interpolate`."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use "
        "`nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: BroadcastingList1[int] | None = None,
    scale_factor: BroadcastingList1[float] | None = None,
) -> Tensor:
    """Old name of `interpolate` in mode nearest."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor,
    size: BroadcastingList1[int] | None = None,
    scale_factor: BroadcastingList1[float] | None = None,
) -> Tensor:
    """Old name of `interpolate` in mode bilinear with aligned corners."""
    return interpolate(
        input, size, scale_factor, mode="bilinear", align_corners=True
    )


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Samples (N, C, H, W) at `grid` (N, h, w, 2), coordinates in [-1, 1].

    Volumes are (N, C, D, H, W) with a grid (N, d, h, w, 3).
    """
    corners = align_corners is not None and bool(align_corners)
    return ops.grid_sampler(
        input, grid, _grid_mode(mode), _grid_padding(padding_mode), corners
    )


def _grid_mode(mode: str) -> int:
    if mode == "bilinear":
        return 0
    if mode == "nearest":
        return 1
    if mode == "bicubic":
        return 2
    raise ValueError(
        "nn.functional.grid_sample(): expected mode to be 'bilinear', "
        f"'nearest' or 'bicubic', but got: '{mode}'"
    )


def _grid_padding(mode: str) -> int:
    if mode == "zeros":
        return 0
    if mode == "border":
        return 1
    if mode == "reflection":
        return 2
    raise ValueError(
        "nn.functional.grid_sample(): expected padding_mode to be 'zeros', "
        f"'border', or 'reflection', but got: '{mode}'"
    )


def affine_grid(
    theta: Tensor, size: list[int], align_corners: bool | None = None
) -> Tensor:
    """Grid for `grid_sample` of affine maps `theta` (N, 2, 3) or (N, 3, 4)."""
    if not theta.is_floating_point():
        raise ValueError(
            "Expected theta to have floating point type, but got {theta.dtype}"
        )
    corners = align_corners is not None and bool(align_corners)
    return ops.affine_grid_generator(theta, size, corners)


def unfold(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    """Sliding blocks of (N, C, H, W) -> (N, C * kernel volume, blocks)."""
    return ops.im2col(input, kernel_size, dilation, padding, stride)


def fold(
    input: Tensor,
    output_size: BroadcastingList2[int],
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    """Sums blocks (N, C * kernel volume, blocks) back into (N, C, H, W)."""
    return ops.col2im(
        input, output_size, kernel_size, dilation, padding, stride
    )
