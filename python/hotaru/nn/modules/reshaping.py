"""Modules that only move values: reshaping, shuffling, sliding blocks."""

from __future__ import annotations

from ... import Tensor
from .. import functional as F
from ._arguments import show
from .module import Module


class Flatten(Module):
    """Joins the axes from `start_dim` to `end_dim` into one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return show(self, "start_dim", "end_dim")


class Unflatten(Module):
    """Splits the axis `dim` into `unflattened_size`."""

    def __init__(self, dim: int | str, unflattened_size) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(
                f"expected `dim` to be an int, but found type {type(dim).__name__}"
            )
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for position, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element "
                    f"of type {type(size).__name__} at pos {position}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return show(self, "dim", "unflattened_size")


class PixelShuffle(Module):
    """(*, C r², H, W) -> (*, C, H r, W r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return show(self, "upscale_factor")


class PixelUnshuffle(Module):
    """(*, C, H r, W r) -> (*, C r², H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return show(self, "downscale_factor")


class ChannelShuffle(Module):
    """Interleaves `groups` groups of channels of (N, C, *)."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return show(self, "groups")


class Unfold(Module):
    """Sliding blocks of (N, C, H, W) -> (N, C * kernel volume, blocks)."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(
            input, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return show(self, "kernel_size", "dilation", "padding", "stride")


class Fold(Module):
    """Sums blocks (N, C * kernel volume, blocks) into (N, C, *output_size)."""

    def __init__(
        self, output_size, kernel_size, dilation=1, padding=0, stride=1
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(
            input,
            self.output_size,
            self.kernel_size,
            self.dilation,
            self.padding,
            self.stride,
        )

    def extra_repr(self) -> str:
        return show(self, "output_size", "kernel_size", "dilation", "padding", "stride")
