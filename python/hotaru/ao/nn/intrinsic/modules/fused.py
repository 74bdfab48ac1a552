"""Sequences that are converted as one: what follows a convolution or a linear
map is done to its integers.
"""

from __future__ import annotations

from .....nn import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    Conv1d,
    Conv2d,
    Conv3d,
    LeakyReLU,
    Linear,
    ReLU,
    Sequential,
    Tanh,
)
from .....nn.utils.parametrize import type_before_parametrizations

__all__ = [
    "BNReLU2d",
    "BNReLU3d",
    "ConvAdd2d",
    "ConvAddReLU2d",
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "LinearBn1d",
    "LinearLeakyReLU",
    "LinearReLU",
    "LinearTanh",
]


class _FusedModule(Sequential):
    """Modules that are swapped as one."""


class _Sequence(_FusedModule):
    """A fused module of the classes `_kinds`; AssertionError for others."""

    _kinds: tuple = ()

    def __init__(self, *modules) -> None:
        found = tuple(type_before_parametrizations(m) for m in modules)
        if found != self._kinds:
            *first, last = (kind.__name__ for kind in found)
            comma = "," if len(first) > 1 else ""
            raise AssertionError(
                "Incorrect types for input modules: "
                f"{', '.join(first)}{comma} and {last}"
            )
        super().__init__(*modules)


class ConvReLU1d(_Sequence):
    """A convolution and a rectifier."""

    _kinds = (Conv1d, ReLU)


class ConvReLU2d(_Sequence):
    """A convolution and a rectifier."""

    _kinds = (Conv2d, ReLU)


class ConvReLU3d(_Sequence):
    """A convolution and a rectifier."""

    _kinds = (Conv3d, ReLU)


class LinearReLU(_Sequence):
    """A linear map and a rectifier."""

    _kinds = (Linear, ReLU)


class ConvBn1d(_Sequence):
    """A convolution and a norm, to be trained."""

    _kinds = (Conv1d, BatchNorm1d)


class ConvBn2d(_Sequence):
    """A convolution and a norm, to be trained."""

    _kinds = (Conv2d, BatchNorm2d)


class ConvBn3d(_Sequence):
    """A convolution and a norm, to be trained."""

    _kinds = (Conv3d, BatchNorm3d)


class ConvBnReLU1d(_Sequence):
    """A convolution, a norm and a rectifier, to be trained."""

    _kinds = (Conv1d, BatchNorm1d, ReLU)


class ConvBnReLU2d(_Sequence):
    """A convolution, a norm and a rectifier, to be trained."""

    _kinds = (Conv2d, BatchNorm2d, ReLU)


class ConvBnReLU3d(_Sequence):
    """A convolution, a norm and a rectifier, to be trained."""

    _kinds = (Conv3d, BatchNorm3d, ReLU)


class BNReLU2d(_Sequence):
    """A norm and a rectifier."""

    _kinds = (BatchNorm2d, ReLU)


class BNReLU3d(_Sequence):
    """A norm and a rectifier."""

    _kinds = (BatchNorm3d, ReLU)


class LinearBn1d(_Sequence):
    """A linear map and a norm, to be trained."""

    _kinds = (Linear, BatchNorm1d)


class LinearLeakyReLU(_Sequence):
    """A linear map and a leaky rectifier."""

    _kinds = (Linear, LeakyReLU)


class LinearTanh(_Sequence):
    """A linear map and a hyperbolic tangent."""

    _kinds = (Linear, Tanh)


class ConvAdd2d(_FusedModule):
    """A convolution whose output is added to another tensor."""

    def __init__(self, conv, add) -> None:
        super().__init__(conv)
        self.add = add

    def forward(self, x1, x2):
        return self.add(self[0](x1), x2)


class ConvAddReLU2d(_FusedModule):
    """The same and a rectifier."""

    def __init__(self, conv, add, relu) -> None:
        super().__init__(conv)
        self.add = add
        self.relu = relu

    def forward(self, x1, x2):
        return self.relu(self.add(self[0](x1), x2))
