"""Pooling. Sizes are one int for all axes, or one an axis.

Inputs are (N, C, *) or (C, *) with 1, 2 or 3 spatial axes; a `stride` that is
left out equals the kernel size.
"""

from __future__ import annotations

from ... import Tensor, ops


def _max_pool(plain: str, with_indices: str, what: str):
    """The pair of functions `<what>` and `<what>_with_indices`."""

    def pool_with_indices(
        input: Tensor,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        if stride is None:
            stride = kernel_size
        op = getattr(ops, with_indices)
        return op(input, kernel_size, stride, padding, dilation, ceil_mode)

    def pool(
        input: Tensor,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        if stride is None:
            stride = kernel_size
        op = getattr(ops, with_indices if return_indices else plain)
        return op(input, kernel_size, stride, padding, dilation, ceil_mode)

    return _named(pool, pool_with_indices, what, "Largest value of each window")


def _named(plain, with_indices, what: str, doc: str):
    plain.__name__ = plain.__qualname__ = what
    plain.__doc__ = f"{doc}; with `return_indices` also the flat positions."
    name = f"{what}_with_indices"
    with_indices.__name__ = with_indices.__qualname__ = name
    with_indices.__doc__ = f"{doc}, and the flat positions in the input."
    return plain, with_indices


max_pool1d, max_pool1d_with_indices = _max_pool(
    "max_pool1d", "max_pool1d_with_indices", "max_pool1d"
)
max_pool2d, max_pool2d_with_indices = _max_pool(
    "max_pool2d", "max_pool2d_with_indices", "max_pool2d"
)
max_pool3d, max_pool3d_with_indices = _max_pool(
    "max_pool3d", "max_pool3d_with_indices", "max_pool3d"
)


def full_output_size(output_size, shape) -> list | int:
    """`output_size` with each None replaced by the input's size there."""
    if isinstance(output_size, int):
        return output_size
    if len(shape) <= len(output_size):
        raise ValueError(
            f"Input dimension should be at least {len(output_size) + 1}"
        )
    spatial = shape[-len(output_size) :]
    return [
        have if want is None else want
        for want, have in zip(output_size, spatial)
    ]


def adaptive_avg_pool2d(input: Tensor, output_size) -> Tensor:
    """Mean over windows such that the result is `output_size` (H, W)."""
    return ops.adaptive_avg_pool2d(input, _repeat(output_size, input, 2))


def adaptive_avg_pool3d(input: Tensor, output_size) -> Tensor:
    """Mean over windows such that the result is `output_size` (D, H, W)."""
    return ops.adaptive_avg_pool3d(input, _repeat(output_size, input, 3))


def _repeat(output_size, input: Tensor, axes: int):
    if output_size is None:
        output_size = (None,) * axes
    return full_output_size(output_size, input.shape)


def _adaptive_max(axes: int):
    name = f"adaptive_max_pool{axes}d"

    def pool_with_indices(
        input: Tensor, output_size, return_indices: bool = False
    ) -> tuple[Tensor, Tensor]:
        size = output_size if axes == 1 else _repeat(output_size, input, axes)
        return getattr(ops, name)(input, size)

    def pool(
        input: Tensor, output_size, return_indices: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        result = pool_with_indices(input, output_size)
        return result if return_indices else result[0]

    doc = "Largest value of windows chosen so that the result has `output_size`"
    return _named(pool, pool_with_indices, name, doc)


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max(3)


def _lp_pool(axes: int):
    def pool(
        input: Tensor,
        norm_type: float,
        kernel_size,
        stride=None,
        ceil_mode: bool = False,
    ) -> Tensor:
        if isinstance(kernel_size, int):
            volume = kernel_size**axes
        else:
            volume = 1
            for size in kernel_size:
                volume *= size
        if stride is None:
            stride = kernel_size
        average = getattr(ops, f"avg_pool{axes}d")
        out = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        # The sign keeps a negative mean (odd powers) from turning into nan.
        magnitude = ops.relu(out.abs())
        return (out.sign() * magnitude).mul(volume).pow(1.0 / norm_type)

    pool.__name__ = pool.__qualname__ = f"lp_pool{axes}d"
    pool.__doc__ = "(sum of x^norm_type over each window)^(1 / norm_type)."
    return pool


lp_pool1d, lp_pool2d, lp_pool3d = (_lp_pool(axes) for axes in (1, 2, 3))
