"""Linear maps."""

from __future__ import annotations

import math

from ... import Tensor, empty
from .. import functional as F
from .. import init
from ..parameter import Parameter
from ._arguments import show, weight_and_bias
from .module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .lazy import LazyLinear as LazyLinear


class Identity(Module):
    """Returns its input; takes and ignores any arguments."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """y = x Aᵀ + b.

    Shapes: input (*, in_features) -> (*, out_features); weight (out_features,
    in_features), bias (out_features). Both start uniform in ±1/√in_features.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        options = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty((out_features, in_features), **options))
        if bias:
            self.bias = Parameter(empty(out_features, **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weight, then the bias."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            uniform_by_fan_in(self.bias, self.weight)

    def forward(self, input: Tensor) -> Tensor:
        weight, bias = weight_and_bias(self)
        return F.linear(input, weight, bias)

    def extra_repr(self) -> str:
        sizes = show(self, "in_features", "out_features")
        return f"{sizes}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` under the name that printed models and archives use within
    `MultiheadAttention`.
    """


class Bilinear(Module):
    """y = x1ᵀ A x2 + b.

    Shapes: (*, in1_features), (*, in2_features) -> (*, out_features).
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(
                f"in1_features must be > 0, but got (in1_features={in1_features})"
            )
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        options = {"device": device, "dtype": dtype}
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(empty(shape, **options))
        if bias:
            self.bias = Parameter(empty(out_features, **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weight, then the bias, uniform in ±1/√in1_features."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = show(self, "in1_features", "in2_features", "out_features")
        return f"{sizes}, bias={self.bias is not None}"


def uniform_by_fan_in(bias: Tensor, weight: Tensor) -> None:
    """Fills a bias uniformly in ±1/√fan_in of its weight."""
    fan_in = weight.size(1)
    for size in weight.shape[2:]:
        fan_in *= size
    if fan_in > 0:
        bound = 1 / math.sqrt(fan_in)
        init.uniform_(bias, -bound, bound)
