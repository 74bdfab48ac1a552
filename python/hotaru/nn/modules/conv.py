"""Convolutions.

Inputs are (N, C, *) or (C, *) with 1, 2 or 3 spatial axes. Sizes are one int
for all axes, or one an axis.
"""

from __future__ import annotations

import math
import warnings

from ... import Tensor, empty
from .. import functional as F
from .. import init
from ..parameter import Parameter
from ._arguments import LayerFunction, ntuple, weight_and_bias
from .linear import uniform_by_fan_in
from .module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .lazy import LazyConv1d as LazyConv1d
    from .lazy import LazyConv2d as LazyConv2d
    from .lazy import LazyConv3d as LazyConv3d
    from .lazy import LazyConvTranspose1d as LazyConvTranspose1d
    from .lazy import LazyConvTranspose2d as LazyConvTranspose2d
    from .lazy import LazyConvTranspose3d as LazyConvTranspose3d

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")
_PADDINGS = ("same", "valid")


class _ConvNd(Module):
    """Parameters, checks and text of all convolutions.

    The weight is (out, in / groups, *kernel), transposed (in, out / groups,
    *kernel); it and the bias start uniform in ±1/√fan_in.
    """

    _axes = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size,
        stride,
        padding,
        dilation,
        transposed: bool,
        output_padding,
        groups: int,
        bias: bool,
        padding_mode: str,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _pad_argument(
            padding, kernel_size, dilation
        )
        options = {"device": device, "dtype": dtype}
        channels = (out_channels, in_channels // groups)
        if transposed:
            channels = (in_channels, out_channels // groups)
        self.weight = Parameter(empty((*channels, *kernel_size), **options))
        if bias:
            self.bias = Parameter(empty(out_channels, **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weight, then the bias."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            uniform_by_fan_in(self.bias, self.weight)

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}"
        )
        for name, default in (
            ("padding", 0),
            ("dilation", 1),
            ("output_padding", 0),
            ("groups", 1),
        ):
            value = getattr(self, name)
            unset = default
            if isinstance(value, tuple):
                unset = (default,) * len(value)
            if value != unset:
                text += f", {name}={value}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


def _check(in_channels, out_channels, stride, padding, groups, padding_mode) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in _PADDINGS:
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of "
                "{'valid', 'same'}"
            )
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            "padding_mode must be one of {'zeros', 'reflect', 'replicate', "
            f"'circular'}}, but got padding_mode='{padding_mode}'"
        )


def _pad_argument(padding, kernel_size, dilation) -> list:
    """Numbers for `F.pad` to pad as the convolution would, last axis first."""
    if padding == "valid":
        return [0] * (2 * len(kernel_size))
    if padding == "same":
        totals = [d * (k - 1) for d, k in zip(dilation, kernel_size)]
        pairs = [(total // 2, total - total // 2) for total in totals]
    else:
        pairs = [(amount, amount) for amount in padding]
    return [amount for pair in reversed(pairs) for amount in pair]


class _Conv(_ConvNd):
    """A convolution that is not transposed: `_convolve` of its axes."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: str | int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ) -> None:
        axes = self._axes
        super().__init__(
            in_channels,
            out_channels,
            ntuple(kernel_size, axes),
            ntuple(stride, axes),
            padding if isinstance(padding, str) else ntuple(padding, axes),
            ntuple(dilation, axes),
            False,
            (0,) * axes,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        weight, bias = weight_and_bias(self)
        return self._conv_forward(input, weight, bias)

    def _conv_forward(
        self, input: Tensor, weight: Tensor, bias: Tensor | None
    ) -> Tensor:
        step, spread, groups = self.stride, self.dilation, self.groups
        if self.padding_mode != "zeros":
            pads = self._reversed_padding_repeated_twice
            padded = F.pad(input, pads, mode=self.padding_mode)
            return self._convolve(padded, weight, bias, step, 0, spread, groups)
        return self._convolve(input, weight, bias, step, self.padding, spread, groups)


class Conv1d(_Conv):
    """Cross-correlation of (N, C, L) with (out, C / groups, K)."""

    _axes = 1
    _convolve = LayerFunction(lambda _: F.conv1d)


class Conv2d(_Conv):
    """Cross-correlation of (N, C, H, W) with (out, C / groups, KH, KW)."""

    _axes = 2
    _convolve = LayerFunction(lambda _: F.conv2d)


class Conv3d(_Conv):
    """Cross-correlation of (N, C, D, H, W) with (out, C / groups, *kernel)."""

    _axes = 3
    _convolve = LayerFunction(lambda _: F.conv3d)


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution: the gradient of a convolution as a layer."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ) -> None:
        axes = self._axes
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}'
            )
        super().__init__(
            in_channels,
            out_channels,
            ntuple(kernel_size, axes),
            ntuple(stride, axes),
            ntuple(padding, axes),
            ntuple(dilation, axes),
            True,
            ntuple(output_padding, axes),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        """`output_size` chooses among the sizes that a stride leaves open."""
        if self.padding_mode != "zeros":
            raise ValueError(
                f"Only `zeros` padding mode is supported for ConvTranspose{self._axes}d"
            )
        if output_size is None:
            return self._operator(input, self.output_padding)
        return self._operator(input, self._padding_for(input, output_size))

    def _operator(self, input: Tensor, output_padding: list[int]) -> Tensor:
        weight, bias = weight_and_bias(self)
        return self._convolve(
            input,
            weight,
            bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )

    def _padding_for(self, input: Tensor, output_size: list[int]) -> list[int]:
        axes = self._axes
        leading = input.dim() - axes
        if leading not in (1, 2):
            raise ValueError(
                f"ConvTranspose{axes}d: expected input to be {axes + 1}D or "
                f"{axes + 2}D, got {input.dim()}D instead"
            )
        if len(output_size) == input.dim():
            output_size = output_size[leading:]
        if len(output_size) != axes:
            raise ValueError(
                f"ConvTranspose{axes}D: for {input.dim()}D input, output_size "
                f"must have {axes} or {input.dim()} elements (got "
                f"{len(output_size)})"
            )
        steps, pads = list(self.stride), list(self.padding)
        spreads, kernel = list(self.dilation), list(self.kernel_size)
        low = [
            (input.size(leading + d) - 1) * steps[d]
            - 2 * pads[d]
            + spreads[d] * (kernel[d] - 1)
            + 1
            for d in range(axes)
        ]
        high = [low[d] + steps[d] - 1 for d in range(axes)]
        for size, least, most in zip(output_size, low, high):
            if size < least or size > most:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid "
                    f"sizes range from {low} to {high} (for an input of "
                    f"{input.size()[2:]})"
                )
        return [output_size[d] - low[d] for d in range(axes)]


class _ConvTransposeMixin(_ConvTransposeNd):
    """Deprecated name of the base of transposed convolutions."""

    def __init__(self, *args, **kwargs) -> None:
        warnings.warn(
            "`_ConvTransposeMixin` is a deprecated internal class. "
            "Please consider using public APIs.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed `Conv1d`."""

    _axes = 1
    _convolve = LayerFunction(lambda _: F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed `Conv2d`."""

    _axes = 2
    _convolve = LayerFunction(lambda _: F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed `Conv3d`."""

    _axes = 3
    _convolve = LayerFunction(lambda _: F.conv_transpose3d)
