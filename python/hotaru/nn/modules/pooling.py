"""Pooling as modules: inputs (N, C, *) or (C, *) with 1 to 3 spatial axes.

A class holds the function of its axes; the forward that calls it is its base's.
"""

from __future__ import annotations

from ... import Tensor
from .. import functional as F
from ._arguments import LayerFunction, ntuple, show
from .module import Module


class _MaxPoolNd(Module):
    """Largest value of each window; stride equals the kernel when left out."""

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor):
        return self._pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        return show(self, "kernel_size", "stride", "padding", "dilation", "ceil_mode")


class MaxPool1d(_MaxPoolNd):
    """(N, C, L) -> (N, C, L')."""

    _pool = LayerFunction(lambda _: F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """(N, C, H, W) -> (N, C, H', W')."""

    _pool = LayerFunction(lambda _: F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """(N, C, D, H, W) -> (N, C, D', H', W')."""

    _pool = LayerFunction(lambda _: F.max_pool3d)


class _AvgPoolNd(Module):
    """Mean of each window; `divisor_override` replaces the count."""

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return show(self, "kernel_size", "stride", "padding")


class AvgPool1d(_AvgPoolNd):
    """Mean of each window: (N, C, L) -> (N, C, L')."""

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        Module.__init__(self)
        self.kernel_size = ntuple(kernel_size, 1)
        self.stride = ntuple(kernel_size if stride is None else stride, 1)
        self.padding = ntuple(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class AvgPool2d(_AvgPoolNd):
    """(N, C, H, W) -> (N, C, H', W')."""

    _pool = LayerFunction(lambda _: F.avg_pool2d)


class AvgPool3d(_AvgPoolNd):
    """(N, C, D, H, W) -> (N, C, D', H', W')."""

    _pool = LayerFunction(lambda _: F.avg_pool3d)


class _AdaptivePool(Module):
    """Pooling over windows chosen so that the result has `output_size`.

    None for an axis keeps the input's size there.
    """

    def __init__(self, output_size) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveAvgPoolNd(_AdaptivePool):
    """Mean over windows such that the result has `output_size`."""


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """(N, C, L) -> (N, C, output_size)."""

    _pool = LayerFunction(lambda _: F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """(N, C, H, W) -> (N, C, *output_size)."""

    _pool = LayerFunction(lambda _: F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """(N, C, D, H, W) -> (N, C, *output_size)."""

    _pool = LayerFunction(lambda _: F.adaptive_avg_pool3d)


class _AdaptiveMaxPoolNd(_AdaptivePool):
    """Largest value over windows such that the result has `output_size`."""

    def __init__(self, output_size, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor):
        return self._pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """(N, C, L) -> (N, C, output_size)."""

    _pool = LayerFunction(lambda _: F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """(N, C, H, W) -> (N, C, *output_size)."""

    _pool = LayerFunction(lambda _: F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """(N, C, D, H, W) -> (N, C, *output_size)."""

    _pool = LayerFunction(lambda _: F.adaptive_max_pool3d)


class _LPPoolNd(Module):
    """(sum of x^norm_type over each window)^(1 / norm_type)."""

    def __init__(
        self, norm_type: float, kernel_size, stride=None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return show(self, "norm_type", "kernel_size", "stride", "ceil_mode")


class LPPool1d(_LPPoolNd):
    """(N, C, L) -> (N, C, L')."""

    _pool = LayerFunction(lambda _: F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """(N, C, H, W) -> (N, C, H', W')."""

    _pool = LayerFunction(lambda _: F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """(N, C, D, H, W) -> (N, C, D', H', W')."""

    _pool = LayerFunction(lambda _: F.lp_pool3d)


class _MaxUnpoolNd(Module):
    """Puts what max pooling selected back to its place, among zeros."""

    axes = 1

    def __init__(self, kernel_size, stride=None, padding=0) -> None:
        super().__init__()
        stride = kernel_size if stride is None else stride
        self.kernel_size = ntuple(kernel_size, self.axes)
        self.stride = ntuple(stride, self.axes)
        self.padding = ntuple(padding, self.axes)

    def forward(self, input: Tensor, indices: Tensor, output_size=None):
        return self._unpool(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return show(self, "kernel_size", "stride", "padding")


class MaxUnpool1d(_MaxUnpoolNd):
    """(N, C, L'), with MaxPool1d's indices -> (N, C, L)."""

    _unpool = LayerFunction(lambda _: F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """(N, C, H', W'), with MaxPool2d's indices -> (N, C, H, W)."""

    axes = 2
    _unpool = LayerFunction(lambda _: F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """(N, C, D', H', W'), with MaxPool3d's indices -> (N, C, D, H, W)."""

    axes = 3
    _unpool = LayerFunction(lambda _: F.max_unpool3d)


class _FractionalMaxPool(Module):
    """Largest value of windows of one size at random places.

    The result has `output_size`, or `output_ratio` of the input's size.

    Raises:
        ValueError: none of the two, both, or a ratio outside of (0, 1).
    """

    axes = 2

    def __init__(
        self,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        if self.axes == 3 and not all(size > 0 for size in ntuple(kernel_size, 3)):
            raise ValueError(
                f"kernel_size must be greater than 0, but got {kernel_size}"
            )
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{type(self).__name__} requires specifying either an output "
                "size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError(
                "only one of output_size and output_ratio may be specified"
            )
        self.kernel_size = ntuple(kernel_size, self.axes)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = self.output_ratio = None
        if output_size is not None:
            self.output_size = ntuple(output_size, self.axes)
            return
        self.output_ratio = ntuple(output_ratio, self.axes)
        if not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(
                f"output_ratio must be between 0 and 1 (got {output_ratio})"
            )

    def forward(self, input: Tensor):
        return self._pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """(N, C, H, W) -> (N, C, H', W')."""

    _pool = LayerFunction(lambda _: F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """(N, C, D, H, W) -> (N, C, D', H', W')."""

    axes = 3
    _pool = LayerFunction(lambda _: F.fractional_max_pool3d)
