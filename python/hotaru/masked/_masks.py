"""Masks in the shape of what they are for, and of what comes of it."""

from __future__ import annotations

import math

from .. import _C
from .._C import Tensor, ops
from ._identity import broadcast, dims, highest, lowest, parts

_REDUCTIONS = {
    "sum",
    "prod",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "mean",
    "median",
    "norm",
    "var",
    "std",
    "logsumexp",
}
_SCANS = {"softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"}


def _input_mask(input: Tensor, *args, **kwargs) -> Tensor:
    """The argument `mask` as booleans of the input's shape.

    Raises ValueError where there is none, IndexError for more dimensions than
    the input has.
    """
    mask = kwargs.get("mask")
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if input.layout is not _C.strided:
        from . import _sparse

        return _sparse.input_mask(mask, input)
    return broadcast(mask, input)


def _output_mask(op, input: Tensor, *args, **kwargs) -> Tensor:
    """The mask of what the masked function `op` gives for these arguments."""
    if not callable(op):
        raise ValueError(
            f"_output_mask expected masked operation (got {type(op).__name__} object)"
        )
    name = op.__name__
    mask = _input_mask(input, *args, **kwargs)
    if name in _SCANS:
        return mask
    if name not in _REDUCTIONS:
        raise ValueError(
            "_output_mask expected masked operation (got callable "
            f"{op.__module__}.{name})"
        )
    rest = args[1:] if name == "norm" else args  # without the order
    over = _canonical_dim(rest[0] if rest else kwargs.get("dim"), input.dim())
    keepdim = bool(kwargs.get("keepdim", False))
    if mask.layout is not _C.strided:
        from . import _sparse

        return _sparse.output_mask(mask, over, keepdim)
    for one in reversed(over if input.dim() else ()):
        mask = mask.any(one, keepdim=keepdim)
    return mask


def _canonical_dim(dim, ndim: int) -> tuple[int, ...]:
    """Dimensions in ascending order, none of them negative; None means all."""
    return tuple(dims(dim, ops.empty((0,) * ndim)))


def _where(mask: Tensor, input: Tensor, fill_value: Tensor) -> Tensor:
    """The input where the mask lets it through, else `fill_value`.

    Of sparse ones, both in one layout, the elements that it lets through.
    """
    if mask.layout is not _C.strided:
        from . import _sparse

        return _sparse.where(mask, input, fill_value)
    return ops.where(mask, input, fill_value)


def _reduction_identity(op_name: str, input: Tensor, *args) -> Tensor | None:
    """Value that changes no result of a masked function, as a tensor of the
    input's dtype; None for means and variances, which have no such number.
    """
    name = op_name.rsplit(".", 1)[-1]
    if name in ("mean", "var", "std"):
        return None
    dtype = input.dtype
    if name in ("sum", "cumsum"):
        value = 0
    elif name in ("prod", "cumprod"):
        value = 1
    elif name in ("amax", "argmax", "logaddexp"):
        value = lowest(input, name)
    elif name == "logsumexp":
        value = -math.inf if input.is_complex() else lowest(input, name)
    elif name in ("amin", "argmin"):
        value = highest(input, name)
    elif name == "norm":
        value = math.inf if args and args[0] == -math.inf else 0
    elif name == "median":
        value = math.nan
        dtype = dtype if dtype.is_floating_point else _C.float32
    else:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    return ops.full((), value, dtype=dtype, device=input.device)


def _combine_input_and_mask(op, input: Tensor, mask, *args) -> Tensor:
    """The input with the identity of `op` where the mask lets nothing through.

    A MaskedTensor's own mask counts.
    """
    input, mask = parts(input, mask)
    if mask is None:
        return input
    if not callable(op):
        raise ValueError(
            "_combine_input_and_mask expected masked operation (got "
            f"{type(op).__name__} object)"
        )
    identity = _reduction_identity(op.__name__, input, *args)
    return _where(_input_mask(input, mask=mask), input, identity)
