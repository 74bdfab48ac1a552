"""Functions of operators in place that are methods alone."""

from __future__ import annotations

from .._C import Generator, Tensor, ops
from .._overrides import overridable as _overridable

__all__ = ["logit_", "nan_to_num_", "negative_", "rrelu_", "square_"]


def logit_(input: Tensor, eps: float | None = None) -> Tensor:
    """`Tensor.logit_`."""
    return input.logit_(eps)


def nan_to_num_(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """`Tensor.nan_to_num_`."""
    return input.nan_to_num_(nan, posinf, neginf)


def negative_(input: Tensor) -> Tensor:
    """`Tensor.negative_`."""
    return input.negative_()


def rrelu_(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """`rrelu`, whose result overwrites the input."""
    return input.copy_(ops.rrelu(input, lower, upper, training, generator))


def square_(input: Tensor) -> Tensor:
    """`Tensor.square_`."""
    return input.square_()


_overridable(globals(), __all__, "hotaru")
