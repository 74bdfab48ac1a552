"""Padding of the last axes of (N, C, *) or (C, *).

`padding` is one int for every side, or a tuple (left, right, top, bottom,
front, back) as far as there are axes, last axis first.
"""

from __future__ import annotations

from ... import Tensor
from .. import functional as F
from ._arguments import ntuple
from .module import Module


class _Pad(Module):
    """Pads `_axes` axes in the mode of the subclass."""

    _axes = 0
    _mode = ""

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        self.padding = ntuple(padding, 2 * self._axes)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    """Pads with `value`."""

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """(N, C, L), padded with `value`."""

    _axes = 1


class ConstantPad2d(_ConstantPadNd):
    """(N, C, H, W), padded with `value`."""

    _axes = 2


class ConstantPad3d(_ConstantPadNd):
    """(N, C, D, H, W), padded with `value`."""

    _axes = 3


class ZeroPad1d(ConstantPad1d):
    """(N, C, L), padded with 0."""

    def __init__(self, padding: int | tuple[int, int]) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


class ZeroPad2d(ConstantPad2d):
    """(N, C, H, W), padded with 0."""

    def __init__(self, padding: int | tuple[int, int, int, int]) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


class ZeroPad3d(ConstantPad3d):
    """(N, C, D, H, W), padded with 0."""

    def __init__(self, padding: int | tuple[int, int, int, int, int, int]) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


class _ReflectionPadNd(_Pad):
    """Mirrors at the edges, which are not repeated."""

    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """(N, C, L), mirrored at the edges, which are not repeated."""

    _axes = 1


class ReflectionPad2d(_ReflectionPadNd):
    """(N, C, H, W), mirrored at the edges, which are not repeated."""

    _axes = 2


class ReflectionPad3d(_ReflectionPadNd):
    """(N, C, D, H, W), mirrored at the edges, which are not repeated."""

    _axes = 3


class _ReplicationPadNd(_Pad):
    """Repeats the edge values."""

    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """(N, C, L), the edge values repeated."""

    _axes = 1


class ReplicationPad2d(_ReplicationPadNd):
    """(N, C, H, W), the edge values repeated."""

    _axes = 2


class ReplicationPad3d(_ReplicationPadNd):
    """(N, C, D, H, W), the edge values repeated."""

    _axes = 3


class _CircularPadNd(_Pad):
    """Wraps around; checks the rank, which the operator does not."""

    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        ranks = (self._axes + 1, self._axes + 2)
        if input.dim() not in ranks:
            raise ValueError(
                f"expected {ranks[0]}D or {ranks[1]}D input (got {input.dim()}D input)"
            )
        return F.pad(input, self.padding, self._mode)


class CircularPad1d(_CircularPadNd):
    """(N, C, L), wrapped around."""

    _axes = 1


class CircularPad2d(_CircularPadNd):
    """(N, C, H, W), wrapped around."""

    _axes = 2


class CircularPad3d(_CircularPadNd):
    """(N, C, D, H, W), wrapped around."""

    _axes = 3
