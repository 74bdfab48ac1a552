"""Products of matrices of eight bits, each with its scale."""

from __future__ import annotations

import enum

from ... import Tensor, bfloat16, float8_e4m3fn, float8_e5m2, float32, matmul
from ..._overrides import overridable as _overridable
from ._grouped import grouped_mm

__all__ = ["ScalingType", "SwizzleType", "scaled_grouped_mm", "scaled_mm"]

_FLOAT8 = (float8_e4m3fn, float8_e5m2)


class ScalingType(enum.IntEnum):
    """Parts of a matrix that have a scale of their own."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(enum.IntEnum):
    """Orders in which scales of blocks may lie."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


def _scaled_mm(
    input: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype=None,
    use_fast_accum: bool = False,
) -> Tensor:
    """The product of matrices of float8 times their scales, plus a bias.

    Sums are of float32. Scales are one number of each matrix, or one of each
    row of the first and each column of the second. Results of float8 are divided
    by `scale_result`, others not, as PyTorch has it on the CPU.

    Raises:
        ValueError: other dtypes or scales. RuntimeError: sizes do not fit.
    """
    _check(input, mat2, scale_a, scale_b)
    result = matmul(input.to(float32), mat2.to(float32)) * scale_a * scale_b
    if bias is not None:
        result = result + bias
    dtype = input.dtype if out_dtype is None else out_dtype
    if scale_result is not None and dtype in _FLOAT8:
        result = result / scale_result
    return result.to(dtype)


def _check(a, b, scale_a, scale_b) -> None:
    if a.dim() != 2 or b.dim() != 2:
        raise RuntimeError("_scaled_mm: expected matrices")
    if a.size(1) != b.size(0):
        raise RuntimeError(
            "mat_a and mat_b shapes cannot be multiplied "
            f"({a.size(0)}x{a.size(1)} and {b.size(0)}x{b.size(1)})"
        )
    fits = a.dtype in _FLOAT8 and b.dtype in _FLOAT8
    fits = fits and scale_a.dtype == scale_b.dtype == float32
    whole = scale_a.numel() == scale_b.numel() == 1
    rows = scale_a.shape == (a.size(0), 1) and scale_b.shape == (1, b.size(1))
    if not fits or not (whole or rows):
        raise ValueError(
            "Invalid scaling configuration.\n"
            "- For TensorWise scaling, a and b should be float8, scales should "
            "be float and singletons.\n"
            "- For RowWise scaling, a and b should be float8, scales should be "
            f"float, scale_a should be ({a.size(0)}, 1) and scale_b should be "
            f"(1, {b.size(1)}).\n"
            f"Got a.dtype()={a.dtype}, scale_a.dtype()={scale_a.dtype}, "
            f"scale_a.size()={list(scale_a.shape)}, b.dtype()={b.dtype}, "
            f"scale_b.dtype()={scale_b.dtype}, "
            f"scale_b.size()={list(scale_b.shape)}"
        )


def _only(value, name: str):
    """The one scale, or way of scaling, of a matrix."""
    if isinstance(value, (list, tuple)):
        if len(value) != 1:
            raise NotImplementedError(
                f"scaled_mm: {name} of several levels; give one scale"
            )
        return value[0]
    return value


def _check_recipe(a, b, swizzles: tuple) -> None:
    plain = (ScalingType.TensorWise, ScalingType.RowWise)
    for recipe in (a, b):
        if recipe not in plain:
            raise NotImplementedError(
                f"scaled_mm: scales of blocks ({ScalingType(recipe).name}); "
                "there are TensorWise and RowWise"
            )
    for swizzle in swizzles:
        kinds = swizzle if isinstance(swizzle, (list, tuple)) else [swizzle]
        if any(kind for kind in kinds):
            raise NotImplementedError("scaled_mm: scales in another order")


def scaled_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    scale_a,
    scale_recipe_a,
    scale_b,
    scale_recipe_b,
    swizzle_a=None,
    swizzle_b=None,
    bias: Tensor | None = None,
    output_dtype=bfloat16,
    contraction_dim=(),
    use_fast_accum: bool = False,
) -> Tensor:
    """The product of matrices of float8 with scales: `torch._scaled_mm`, whose
    scales are said to be TensorWise or RowWise.

    Raises:
        NotImplementedError: scales of blocks, or in another order.
    """
    a = _only(scale_recipe_a, "scale_recipe_a")
    b = _only(scale_recipe_b, "scale_recipe_b")
    _check_recipe(a, b, (swizzle_a, swizzle_b))
    if contraction_dim:
        raise NotImplementedError("scaled_mm: contraction_dim")
    return _scaled_mm(
        mat_a,
        mat_b,
        _only(scale_a, "scale_a"),
        _only(scale_b, "scale_b"),
        bias,
        None,
        output_dtype,
        use_fast_accum,
    )


def scaled_grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    scale_a,
    scale_recipe_a,
    scale_b,
    scale_recipe_b,
    swizzle_a=None,
    swizzle_b=None,
    bias: Tensor | None = None,
    offs: Tensor | None = None,
    output_dtype=bfloat16,
    contraction_dim=(),
    use_fast_accum: bool = False,
) -> Tensor:
    """The product of groups of float8: PyTorch has it on GPUs alone."""
    raise NotImplementedError(
        "scaled_grouped_mm: PyTorch has no form of it for the CPU, and hotaru "
        "none; call scaled_mm for each group, or grouped_mm of 16-bit floats"
    )


def _grouped_mm(
    input: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype=None,
) -> Tensor:
    """The older name of `grouped_mm`."""
    return grouped_mm(input, mat2, offs=offs, bias=bias, out_dtype=out_dtype)


_overridable(globals(), ("_grouped_mm", "_scaled_mm"), "hotaru")
