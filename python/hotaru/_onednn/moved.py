"""Tensors near one of the layout `_mkldnn`, for comparing derivatives."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .tensor import with_dense


def values(tensor: Tensor) -> Tensor:
    """The dense tensor in it: written to, the tensor changes."""
    return tensor._dense


def along(tensor: Tensor, step: Tensor, distance: float) -> Tensor:
    """A leaf: tensor + distance * step."""
    moved = with_dense(tensor._dense + (distance * step).to(tensor.dtype))
    return moved.requires_grad_(tensor.requires_grad)


def kept(tensor: Tensor) -> Tensor:
    """A strided tensor of ones: every element is kept."""
    return _C.ops.ones(list(tensor.shape), dtype=_C.float64)


def densified(tensor: Tensor) -> Tensor:
    """The tensor itself, which keeps every element."""
    return tensor
