"""Activations as compiled code sees them."""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor


def threshold(
    input: Tensor, threshold: float, value: float, inplace: bool = False
) -> Tensor:
    if inplace:
        return torch.threshold_(input, threshold, value)
    return torch.threshold(input, threshold, value)


def hardtanh(
    input: Tensor,
    min_val: float = -1.0,
    max_val: float = 1.0,
    inplace: bool = False,
) -> Tensor:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return torch.hardtanh_(input, min_val, max_val)
    return torch.hardtanh(input, min_val, max_val)


def leaky_relu(
    input: Tensor, negative_slope: float = 0.01, inplace: bool = False
) -> Tensor:
    if inplace:
        return torch.leaky_relu_(input, negative_slope)
    return torch.leaky_relu(input, negative_slope)


def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    if inplace:
        return input.copy_(torch.rrelu(input, lower, upper, training))
    return torch.rrelu(input, lower, upper, training)


def _implicit_dim(ndim: int) -> int:
    if ndim == 0 or ndim == 1 or ndim == 3:
        return 0
    return 1


def softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: int | None = None,
) -> Tensor:
    if dim is None:
        dim = _implicit_dim(input.dim())
    return torch.softmax(input, dim, dtype)


def softmin(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: int | None = None,
) -> Tensor:
    return softmax(-input, dim, _stacklevel, dtype)


def log_softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: int | None = None,
) -> Tensor:
    if dim is None:
        dim = _implicit_dim(input.dim())
    return torch.log_softmax(input, dim, dtype)
