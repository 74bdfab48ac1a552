"""Resampling of pictures and volumes, and sliding blocks."""

# A BroadcastingListN is one number or N of them: the compiler's name for it,
# which Python does not look at.
# ruff: noqa: F821
from __future__ import annotations

import math
import warnings

import hotaru

from ... import Tensor, ops


def interpolate(
    input: Tensor,
    size: BroadcastingList1[int] | None = None,
    scale_factor: BroadcastingList1[float] | None = None,
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
            bicubic, lanczos (2), trilinear (3).
        align_corners: whether the corner values stay in the corners; only for
            the linear and cubic modes.
        recompute_scale_factor: derive the scale from the rounded size.
        antialias: where a picture shrinks, every output weighs all inputs
            that fall on it; for bilinear and bicubic, always for lanczos.

    Raises:
        ValueError: arguments that contradict each other.
        NotImplementedError: a mode that does not fit the number of axes.
    """
    axes = input.dim() - 2
    if align_corners is not None and _is_plain(mode):
        raise ValueError(
            "align_corners option can only be set with the interpolating "
            "modes: linear | bilinear | bicubic | trilinear"
        )
    corners = align_corners is not None and bool(align_corners)
    recompute = recompute_scale_factor is not None and bool(recompute_scale_factor)
    full: list[int] | None = None
    factors: list[float] | None = None
    if size is not None:
        if scale_factor is not None:
            raise ValueError("only one of size or scale_factor should be defined")
        full = _sizes(size, input)
        if recompute:
            raise ValueError(
                "recompute_scale_factor is not meaningful with an explicit size."
            )
    elif scale_factor is not None:
        ratios = _factors(scale_factor, input)
        if recompute or mode == "area":
            full = [
                math.floor(have * ratio) for have, ratio in zip(input.shape[2:], ratios)
            ]
        else:
            factors = ratios
    else:
        raise ValueError("either size or scale_factor should be defined")
    if antialias:
        filters = mode == "bilinear" or mode == "bicubic" or mode == "lanczos"
        if axes != 2 or not filters:
            raise ValueError(
                "Anti-alias option is restricted to bilinear, bicubic, and "
                "lanczos modes and requires a 4-D tensor as input"
            )
        if mode == "bilinear":
            return ops._upsample_bilinear2d_aa(input, full, corners, factors)
        if mode == "bicubic":
            return ops._upsample_bicubic2d_aa(input, full, corners, factors)
        if corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        return ops._upsample_lanczos2d_aa(input, full, corners, factors)
    if mode == "lanczos" and axes == 2:
        raise ValueError("Lanczos mode requires antialias=True")
    return _resample(input, mode, full, factors, corners)


def _is_plain(mode: str) -> bool:
    """Tells whether a mode has no corners to align."""
    return mode == "nearest" or mode == "nearest-exact" or mode == "area"


def _resample(
    input: Tensor,
    mode: str,
    size: list[int] | None,
    factors: list[float] | None,
    corners: bool,
) -> Tensor:
    """The operator of a mode and a number of axes."""
    axes = input.dim() - 2
    if axes == 1:
        if mode == "nearest":
            return ops.upsample_nearest1d(input, size, factors)
        if mode == "nearest-exact":
            return ops._upsample_nearest_exact1d(input, size, factors)
        if mode == "area" and size is not None:
            return ops.adaptive_avg_pool1d(input, size)
        if mode == "linear":
            return ops.upsample_linear1d(input, size, corners, factors)
    if axes == 2:
        if mode == "nearest":
            return ops.upsample_nearest2d(input, size, factors)
        if mode == "nearest-exact":
            return ops._upsample_nearest_exact2d(input, size, factors)
        if mode == "area" and size is not None:
            return ops.adaptive_avg_pool2d(input, size)
        if mode == "bilinear":
            return ops.upsample_bilinear2d(input, size, corners, factors)
        if mode == "bicubic":
            return ops.upsample_bicubic2d(input, size, corners, factors)
    if axes == 3:
        if mode == "nearest":
            return ops.upsample_nearest3d(input, size, factors)
        if mode == "nearest-exact":
            return ops._upsample_nearest_exact3d(input, size, factors)
        if mode == "area" and size is not None:
            return ops.adaptive_avg_pool3d(input, size)
        if mode == "trilinear":
            return ops.upsample_trilinear3d(input, size, corners, factors)
    if axes >= 1 and axes <= 3:
        _check_mode(mode, "linear", input, 3)
        _check_mode(mode, "bilinear", input, 4)
        _check_mode(mode, "bicubic", input, 4)
        _check_mode(mode, "trilinear", input, 5)
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported "
        f"(got {input.dim()}D) for the modes: nearest | linear | bilinear | "
        f"bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def _check_mode(mode: str, named: str, input: Tensor, dim: int) -> None:
    if mode == named:
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs {dim}D input"
        )


def _sizes(size: list[int], input: Tensor) -> list[int]:
    """One size an axis; in Python `size` may be one for all."""
    axes = input.dim() - 2
    if not isinstance(size, (list, tuple)):
        return [size] * axes
    if len(size) == 1 and hotaru.jit.is_scripting():
        return [size[0]] * axes
    if len(size) != axes:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, "
            f"but got input with spatial dimensions of {list(input.shape[2:])} "
            f"and output size of {size}. Please provide input tensor in (N, C, "
            "d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
        )
    return list(size)


def _factors(scale_factor: list[float], input: Tensor) -> list[float]:
    """One factor an axis; in Python `scale_factor` may be one for all."""
    axes = input.dim() - 2
    if not isinstance(scale_factor, (list, tuple)):
        return [float(scale_factor)] * axes
    if len(scale_factor) == 1 and hotaru.jit.is_scripting():
        return [scale_factor[0]] * axes
    if len(scale_factor) != axes:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial "
            "dimensions, but got input with spatial dimensions of "
            f"{list(input.shape[2:])} and scale_factor of shape "
            f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, "
            "...,dK) format and scale_factor in (s1, s2, ...,sK) format."
        )
    return list(scale_factor)


_CORNERS = (
    "Default grid_sample and affine_grid behavior has changed to "
    "align_corners=False since 1.3.0. Please specify align_corners=True if the "
    "old behavior is desired. See the documentation of grid_sample for details."
)
_ONE_CORNER = (
    "Since version 1.3.0, affine_grid behavior has changed for unit-size grids "
    "when align_corners=True. This is not an intended use case of affine_grid. "
    "See the documentation of affine_grid for details."
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
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use "
        "`nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor,
    size: BroadcastingList1[int] | None = None,
    scale_factor: BroadcastingList1[float] | None = None,
) -> Tensor:
    """Old name of `interpolate` in mode bilinear with aligned corners."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use "
        "`nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


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
    sampled, padded = _grid_mode(mode), _grid_padding(padding_mode)
    if align_corners is None:
        warnings.warn(_CORNERS, stacklevel=2)
    corners = align_corners is not None and bool(align_corners)
    return ops.grid_sampler(input, grid, sampled, padded, corners)


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


# By what numbers the operator knows them.
GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def assert_int_or_pair(arg: list[int], arg_name: str, message: str) -> None:
    """AssertionError: it is neither a number nor two of them."""
    if not (isinstance(arg, int) or len(arg) == 2):
        raise AssertionError(message.format(arg_name))


def affine_grid(
    theta: Tensor, size: list[int], align_corners: bool | None = None
) -> Tensor:
    """Grid for `grid_sample` of affine maps `theta` (N, 2, 3) or (N, 3, 4).

    Raises:
        ValueError: maps of another kind or shape, or a size of nothing.
        NotImplementedError: a size of other than 4 or 5 dimensions.
    """
    if align_corners is None:
        warnings.warn(_CORNERS, stacklevel=2)
    corners = align_corners is not None and bool(align_corners)
    if not theta.is_floating_point():
        raise ValueError(
            f"Expected theta to have floating point type, but got {theta.dtype}"
        )
    dims = len(size) - 2
    if dims != 2 and dims != 3:
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine "
            f"transforms, respectively. Got size {size}."
        )
    if theta.dim() != 3 or list(theta.shape[1:]) != [dims, dims + 1]:
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape "
            f"Nx{dims}x{dims + 1} for size {size}. Got {theta.shape}."
        )
    if corners and min(size[2:]) == 1:
        warnings.warn(_ONE_CORNER, stacklevel=2)
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
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
    return ops.col2im(input, output_size, kernel_size, dilation, padding, stride)
