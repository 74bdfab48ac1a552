"""Parameters as one vector and back."""

from __future__ import annotations

import hotaru

from ... import Tensor
from ..._utils import typename


def parameters_to_vector(parameters) -> Tensor:
    """All values of all parameters in one vector, in their order."""
    return hotaru.cat([param.view(-1) for param in parameters])


def vector_to_parameters(vec: Tensor, parameters) -> None:
    """Gives each parameter its part of the vector, as a view of it."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for param in parameters:
        count = param.numel()
        param.data = vec[start : start + count].view_as(param).data
        start += count
