"""Pooling. Sizes are one int for all axes, or one an axis.

Inputs are (N, C, *) or (C, *) with 1, 2 or 3 spatial axes; a `stride` that is
left out equals the kernel size.
"""

# A BroadcastingList1 is one number or several: the compiler's name for it,
# which Python does not look at.
# ruff: noqa: F821
from __future__ import annotations

import math

from ... import Tensor, ops, rand


def _max_pool(axes: int):
    """The functions `max_pool<axes>d` and `max_pool<axes>d_with_indices`."""
    what = f"max_pool{axes}d"
    plain = getattr(ops, what)
    both = getattr(ops, f"{what}_with_indices")

    def values(
        input: Tensor,
        kernel_size: BroadcastingList1[int],
        stride: BroadcastingList1[int] | None = None,
        padding: BroadcastingList1[int] = 0,
        dilation: BroadcastingList1[int] = 1,
        ceil_mode: bool = False,
    ) -> Tensor:
        if stride is None:
            stride = kernel_size
        return plain(input, kernel_size, stride, padding, dilation, ceil_mode)

    def pool_with_indices(
        input: Tensor,
        kernel_size: BroadcastingList1[int],
        stride: BroadcastingList1[int] | None = None,
        padding: BroadcastingList1[int] = 0,
        dilation: BroadcastingList1[int] = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        if stride is None:
            stride = kernel_size
        return both(input, kernel_size, stride, padding, dilation, ceil_mode)

    def pool(
        input: Tensor,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        function = pool_with_indices if return_indices else values
        return function(input, kernel_size, stride, padding, dilation, ceil_mode)

    values.__name__ = values.__qualname__ = f"_{what}"
    # Compiled code picks by the flag, as one function has one type there.
    pool.by_flag = ("return_indices", 6, pool_with_indices, values)
    return _named(pool, pool_with_indices, what, "Largest value of each window")


def _named(plain, with_indices, what: str, doc: str):
    plain.__name__ = plain.__qualname__ = what
    plain.__doc__ = f"{doc}; with `return_indices` also the flat positions."
    name = f"{what}_with_indices"
    with_indices.__name__ = with_indices.__qualname__ = name
    with_indices.__doc__ = f"{doc}, and the flat positions in the input."
    return plain, with_indices


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)


def full_output_size(output_size: list[int | None], shape: list[int]) -> list[int]:
    """`output_size` with each None replaced by the input's size there.

    In Python it may also be one int, which is returned.
    """
    if not isinstance(output_size, (list, tuple)):
        return output_size
    if len(shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    spatial = shape[-len(output_size) :]
    return [have if want is None else want for want, have in zip(output_size, spatial)]


def adaptive_avg_pool2d(
    input: Tensor, output_size: BroadcastingList2[int | None]
) -> Tensor:
    """Mean over windows such that the result is `output_size` (H, W)."""
    if output_size is None:
        output_size = [None, None]
    size = full_output_size(output_size, input.shape)
    return ops.adaptive_avg_pool2d(input, size)


def adaptive_avg_pool3d(
    input: Tensor, output_size: BroadcastingList3[int | None]
) -> Tensor:
    """Mean over windows such that the result is `output_size` (D, H, W)."""
    if output_size is None:
        output_size = [None, None, None]
    size = full_output_size(output_size, input.shape)
    return ops.adaptive_avg_pool3d(input, size)


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: BroadcastingList1[int], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    return ops.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(
    input: Tensor,
    output_size: BroadcastingList2[int | None],
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    if output_size is None:
        output_size = [None, None]
    size = full_output_size(output_size, input.shape)
    return ops.adaptive_max_pool2d(input, size)


def adaptive_max_pool3d_with_indices(
    input: Tensor,
    output_size: BroadcastingList3[int | None],
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    if output_size is None:
        output_size = [None, None, None]
    size = full_output_size(output_size, input.shape)
    return ops.adaptive_max_pool3d(input, size)


def _adaptive_max_pool1d(input: Tensor, output_size: BroadcastingList1[int]) -> Tensor:
    return adaptive_max_pool1d_with_indices(input, output_size)[0]


def _adaptive_max_pool2d(
    input: Tensor, output_size: BroadcastingList2[int | None]
) -> Tensor:
    return adaptive_max_pool2d_with_indices(input, output_size)[0]


def _adaptive_max_pool3d(
    input: Tensor, output_size: BroadcastingList3[int | None]
) -> Tensor:
    return adaptive_max_pool3d_with_indices(input, output_size)[0]


def _adaptive_max(values, pool_with_indices):
    def pool(
        input: Tensor, output_size, return_indices: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        function = pool_with_indices if return_indices else values
        return function(input, output_size)

    pool.by_flag = ("return_indices", 2, pool_with_indices, values)
    doc = "Largest value of windows chosen so that the result has `output_size`"
    return _named(pool, pool_with_indices, values.__name__[1:], doc)[0]


adaptive_max_pool1d = _adaptive_max(
    _adaptive_max_pool1d, adaptive_max_pool1d_with_indices
)
adaptive_max_pool2d = _adaptive_max(
    _adaptive_max_pool2d, adaptive_max_pool2d_with_indices
)
adaptive_max_pool3d = _adaptive_max(
    _adaptive_max_pool3d, adaptive_max_pool3d_with_indices
)


def _lp_pool(axes: int):
    most = getattr(ops, f"max_pool{axes}d")
    average = getattr(ops, f"avg_pool{axes}d")

    def pool(
        input: Tensor,
        norm_type: float,
        kernel_size: BroadcastingList1[int],
        stride: BroadcastingList1[int] | None = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        if stride is None:
            stride = kernel_size
        if math.isinf(norm_type):
            sign = 1 if norm_type > 0 else -1
            out = most(sign * input.abs(), kernel_size, stride, 0, 1, ceil_mode)
            return sign * out
        out = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        # The sign keeps a negative mean (odd powers) from turning into nan.
        magnitude = ops.relu(out.abs())
        volume = _volume(kernel_size, axes)
        return (out.sign() * magnitude).mul(volume).pow(1.0 / norm_type)

    pool.__name__ = pool.__qualname__ = f"lp_pool{axes}d"
    pool.__doc__ = "(sum of x^norm_type over each window)^(1 / norm_type)."
    return pool


def _volume(kernel_size: list[int], axes: int) -> int:
    """Elements of a window; in Python `kernel_size` may be one int."""
    if not isinstance(kernel_size, (list, tuple)):
        kernel_size = [kernel_size]
    volume = 1
    for i in range(axes):
        volume *= kernel_size[i if len(kernel_size) > 1 else 0]
    return volume


lp_pool1d, lp_pool2d, lp_pool3d = (_lp_pool(axes) for axes in (1, 2, 3))


def _each(value, axes: int) -> tuple:
    """One value an axis."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,) * axes


def _unpooled_size(input: Tensor, kernel_size, stride, padding, output_size) -> tuple:
    """The spatial size that max_unpool gives.

    ValueError for an `output_size` from which max_pool would not have made
    the input's size.
    """
    axes = len(kernel_size)
    spatial = input.shape[-axes:]
    default = tuple(
        (n - 1) * s + k - 2 * p
        for n, k, s, p in zip(spatial, kernel_size, stride, padding)
    )
    if output_size is None:
        return default
    if len(output_size) == axes + 2:
        output_size = output_size[2:]
    if len(output_size) != axes:
        raise ValueError(
            f"output_size should be a sequence containing {axes} or {axes + 2} "
            f"elements, but it has a length of '{len(output_size)}'"
        )
    for d, (wanted, n, s) in enumerate(zip(output_size, default, stride)):
        if not n - s < wanted < n + s:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between '
                f"{n - s} and {n + s})"
            )
    return tuple(output_size)


def _max_unpool(axes: int):
    def unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size,
        stride=None,
        padding=0,
        output_size=None,
    ) -> Tensor:
        kernel_size = _each(kernel_size, axes)
        stride = kernel_size if stride is None else _each(stride, axes)
        padding = _each(padding, axes)
        size = _unpooled_size(input, kernel_size, stride, padding, output_size)
        if axes == 3:
            return ops.max_unpool3d(input, indices, size, stride, padding)
        if axes == 2:
            return ops.max_unpool2d(input, indices, size)
        out = ops.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1))
        return out.squeeze(-1)

    unpool.__name__ = unpool.__qualname__ = f"max_unpool{axes}d"
    unpool.__doc__ = (
        f"Puts what max_pool{axes}d selected back to its place, among zeros."
    )
    return unpool


max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))


def _check_axes(name: str, axes: int, **given) -> None:
    """RuntimeError for neither a number nor one for each axis."""
    for what, sizes in given.items():
        if isinstance(sizes, (list, tuple)) and len(sizes) != axes:
            many = "Ints" if axes == 2 else "three Ints"
            raise RuntimeError(
                f"{name}: {what} must either be a single Int or tuple of {many}"
            )


def _fractional_max(axes: int):
    name = f"fractional_max_pool{axes}d"

    def pool_with_indices(
        input: Tensor,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        if output_size is None:
            if output_ratio is None:
                raise ValueError(
                    f"{name} requires specifying either an output_size or an "
                    "output_ratio"
                )
            ratios = _each(output_ratio, axes)
            if len(ratios) > axes:
                raise ValueError(
                    f"{name} requires output_ratio to either be a single Int "
                    "or tuple of Ints."
                )
            spatial = input.shape[-axes:]
            output_size = [int(n * r) for n, r in zip(spatial, ratios)]
        _check_axes(name, axes, kernel_size=kernel_size, output_size=output_size)
        samples = _random_samples
        if samples is None:
            batch = 1 if input.dim() == axes + 1 else input.size(0)
            channels = input.size(-axes - 1)
            samples = rand(batch, channels, axes, dtype=input.dtype)
        return getattr(ops, name)(input, kernel_size, output_size, samples)

    def pool(
        input: Tensor,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        result = pool_with_indices(
            input,
            kernel_size,
            output_size,
            output_ratio,
            _random_samples=_random_samples,
        )
        return result if return_indices else result[0]

    doc = (
        "Largest value of windows at random places, such that the result has "
        "`output_size`, or `output_ratio` of the input's"
    )
    return _named(pool, pool_with_indices, name, doc)


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_max(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_max(3)
