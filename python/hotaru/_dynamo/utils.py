"""Copies of arguments and a question, by PyTorch's names for them."""

from __future__ import annotations

from .. import Tensor, cuda


def clone_input(x: Tensor) -> Tensor:
    """A leaf with the same values, dtype and strides, which requires grad
    where `x` does; it shares no memory with it.
    """
    return x.detach().clone().requires_grad_(x.requires_grad)


def is_compile_supported(device_type: str) -> bool:
    """Tells whether `compile` captures what runs on devices of a type."""
    kind = device_type.partition(":")[0]
    return kind == "cpu" or (kind == "cuda" and cuda.is_available())
