"""Dropout as modules: active in training mode only."""

from __future__ import annotations

from ... import Tensor
from .. import functional as F
from ..functional._dropout import check_probability
from ._arguments import LayerFunction
from .module import Module


class _DropoutNd(Module):
    """Keeps a probability `p`, and whether to write into the input."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_probability(p)
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class _Dropout(_DropoutNd):
    """Calls `_drop` with probability `p`, in place if `inplace`."""

    def forward(self, input: Tensor) -> Tensor:
        return self._drop(input, self.p, self.training, self.inplace)


class Dropout(_Dropout):
    """Zeroes elements with probability `p`, scales others by 1 / (1 - p)."""

    _drop = LayerFunction(lambda _: F.dropout)


class Dropout1d(_Dropout):
    """Zeroes whole channels of (N, C, L) or (C, L)."""

    _drop = LayerFunction(lambda _: F.dropout1d)


class Dropout2d(_Dropout):
    """Zeroes whole channels of (N, C, H, W)."""

    _drop = LayerFunction(lambda _: F.dropout2d)


class Dropout3d(_Dropout):
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W)."""

    _drop = LayerFunction(lambda _: F.dropout3d)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance, for networks of SELUs."""

    _drop = LayerFunction(lambda _: F.alpha_dropout)


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels."""

    _drop = LayerFunction(lambda _: F.feature_alpha_dropout)
