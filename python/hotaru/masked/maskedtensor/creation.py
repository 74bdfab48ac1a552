"""Functions that make a MaskedTensor."""

from __future__ import annotations

from ..._C import Tensor
from .core import MaskedTensor, _check_kinds, copies, warn_of_prototype, wrap


def masked_tensor(
    data: Tensor, mask: Tensor, requires_grad: bool = False
) -> MaskedTensor:
    """A MaskedTensor that begins a history of its own, like `tensor`."""
    _check_kinds(data, mask)
    warn_of_prototype(data)
    return wrap(*copies(data.detach(), mask), requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """A MaskedTensor that gradients pass through to the data."""
    _check_kinds(data, mask)
    warn_of_prototype(data.detach())
    return wrap(*copies(data, mask))
