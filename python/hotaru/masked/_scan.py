"""Masked scans."""

from __future__ import annotations

from .._C import Tensor, ops
from ._identity import dims, filled


def cumsum(input: Tensor, dim: int, *, dtype=None, mask=None) -> Tensor:
    """Sums up to each element."""
    return _scan(ops.cumsum, input, dim, dtype, filled(input, mask, 0))


def cumprod(input: Tensor, dim: int, *, dtype=None, mask=None) -> Tensor:
    """Products up to each element."""
    return _scan(ops.cumprod, input, dim, dtype, filled(input, mask, 1))


def _scan(operator, input, dim, dtype, given) -> Tensor:
    along = (dims(dim, input) or [0])[0]
    return operator(given, along, dtype=dtype or input.dtype)
