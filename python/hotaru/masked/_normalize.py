"""Masked functions that scale elements by what a whole row says."""

from __future__ import annotations

from .._C import Tensor, ops
from ._identity import dims, filled, highest, lowest
from ._reduce import norm


def _along(dim, input) -> int:
    return (dims(dim, input) or [0])[0]


def softmax(input: Tensor, dim: int, *, dtype=None, mask=None) -> Tensor:
    """Softmax; what does not count gets 0."""
    given = filled(input, mask, lambda: lowest(input, "amax"))
    along = _along(dim, input)
    return ops.softmax(given, along, dtype=dtype or input.dtype)


def log_softmax(input: Tensor, dim: int, *, dtype=None, mask=None) -> Tensor:
    """The logarithm of softmax; what does not count gets -inf."""
    given = filled(input, mask, lambda: lowest(input, "amax"))
    along = _along(dim, input)
    return ops.log_softmax(given, along, dtype=dtype or input.dtype)


def softmin(input: Tensor, dim: int, *, dtype=None, mask=None) -> Tensor:
    """Softmax of the negative; what does not count gets 0."""
    given = filled(input, mask, lambda: highest(input, "amin"))
    along = _along(dim, input)
    return ops.softmax(-given, along, dtype=dtype or input.dtype)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype=None, mask=None
) -> Tensor:
    """The input by its norm along `dim`, which counts as at least `eps`."""
    along = _along(dim, input)
    length = norm(input, ord, along, keepdim=True, dtype=dtype, mask=mask)
    least = ops.full((), eps, dtype=length.dtype, device=length.device)
    found = filled(input, mask, 0) / ops.maximum(length, least)
    return found if dtype is None else found.to(dtype)
