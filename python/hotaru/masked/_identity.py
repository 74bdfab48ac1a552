"""Values that stand in for elements that do not count."""

from __future__ import annotations

import math

from .. import _C
from .._C import Tensor, ops
from .._dims import wrap_dim
from .._extension.dtypes import iinfo


def _bounds(input: Tensor, name: str):
    """Bounds of the dtype's integers; None for floating-point numbers."""
    if input.dtype.is_floating_point:
        return None
    if input.dtype == _C.bool:
        raise NotImplementedError(f"identity of {name} on torch.bool input")
    return iinfo(input.dtype)


def lowest(input: Tensor, name: str):
    """Returns a value that no maximum is smaller than."""
    info = _bounds(input, name)
    return -math.inf if info is None else info.min


def highest(input: Tensor, name: str):
    """Returns a value that no minimum is greater than."""
    info = _bounds(input, name)
    return math.inf if info is None else info.max


def check_mask_dims(mask: Tensor, input: Tensor) -> None:
    if mask.dim() > input.dim():
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality "
            "higher than of the input)"
        )


def broadcast(mask: Tensor, input: Tensor) -> Tensor:
    """The mask in the input's shape, as booleans."""
    check_mask_dims(mask, input)
    if mask.layout is not _C.strided:
        mask = mask.to_dense()
    mask = mask if mask.dtype == _C.bool else mask != 0
    return mask.expand(input.shape)


def parts(input: Tensor, mask: Tensor | None) -> tuple:
    """The input and its mask: a MaskedTensor has one of its own."""
    if type(input) is not Tensor and hasattr(input, "get_mask"):
        return input.get_data(), input.get_mask()
    return input, mask


def filled(input: Tensor, mask: Tensor | None, value) -> Tensor:
    """The input with `value` where the mask lets nothing through.

    `value` is a number, or a function that gives it.
    """
    input, mask = parts(input, mask)
    value = value() if callable(value) else value
    if mask is None:
        return input
    number = ops.full((), value, dtype=input.dtype, device=input.device)
    return ops.where(broadcast(mask, input), input, number)


def dims(dim, input: Tensor) -> list[int]:
    """The dimensions, none of them negative, in ascending order."""
    rank = input.dim()
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return list(range(rank))
    found = []
    for one in [dim] if isinstance(dim, int) else dim:
        one = wrap_dim(one, rank)
        if one in found:
            raise RuntimeError(f"dim={one} appears multiple times in the list of dims")
        found.append(one)
    return sorted(found) if rank else []
