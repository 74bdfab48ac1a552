"""Normalisation without running statistics."""

from __future__ import annotations

import numbers

from ... import Tensor, empty
from .. import functional as F
from .. import init
from ..parameter import Parameter
from ._arguments import show, weight_and_bias
from .module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .former import CrossMapLRN2d as CrossMapLRN2d


class LayerNorm(Module):
    """Normalises over the last axes, which have `normalized_shape`."""

    def __init__(
        self,
        normalized_shape: int | list[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        weight = Parameter(empty(shape, **options)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        has_bias = elementwise_affine and bias
        self.register_parameter(
            "bias", Parameter(empty(shape, **options)) if has_bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        weight, bias = weight_and_bias(self)
        return F.layer_norm(input, self.normalized_shape, weight, bias, self.eps)

    def extra_repr(self) -> str:
        options = show(self, "eps", "elementwise_affine")
        return f"{self.normalized_shape}, {options}, bias={self.bias is not None}"


class RMSNorm(Module):
    """Divides by the root mean square over the last axes."""

    def __init__(
        self,
        normalized_shape: int | list[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = None
        if elementwise_affine:
            shape = self.normalized_shape
            weight = Parameter(empty(shape, device=device, dtype=dtype))
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, " + show(self, "eps", "elementwise_affine")


class GroupNorm(Module):
    """Normalises each of `num_groups` groups of channels of (N, C, *)."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by "
                f"num_groups ({num_groups})"
            )
        options = {"device": device, "dtype": dtype}
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        weight = Parameter(empty(num_channels, **options)) if affine else None
        self.register_parameter("weight", weight)
        has_bias = affine and bias
        self.register_parameter(
            "bias", Parameter(empty(num_channels, **options)) if has_bias else None
        )
        self.reset_parameters()

    reset_parameters = LayerNorm.reset_parameters

    def forward(self, input: Tensor) -> Tensor:
        weight, bias = weight_and_bias(self)
        return F.group_norm(input, self.num_groups, weight, bias, self.eps)

    def extra_repr(self) -> str:
        options = show(self, "eps", "affine")
        return (
            f"{self.num_groups}, {self.num_channels}, {options}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """x / (k + alpha * mean of x² over `size` neighbouring channels)^beta."""

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
    ) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, " + show(self, "alpha", "beta", "k")


def _shape(value) -> tuple[int, ...]:
    return (value,) if isinstance(value, numbers.Integral) else tuple(value)
