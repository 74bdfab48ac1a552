"""Copies of arguments, by PyTorch's name for them."""

from __future__ import annotations

from .. import Tensor


def clone_input(x: Tensor) -> Tensor:
    """A leaf with the same values, dtype and strides, which requires grad
    where `x` does; it shares no memory with it.
    """
    return x.detach().clone().requires_grad_(x.requires_grad)
