"""Reductions among PyTorch's references: functions whose arguments can be asked.

They are the operators of those names; programs read from their signatures which
of them take a dtype.
"""

from __future__ import annotations

import hotaru

from .._C import Tensor
from .._prims_common.shapes import canonicalize_dims, set_correction

NAMES = frozenset(("all", "amax", "amin", "any", "count_nonzero"))
NAMES |= {"mean", "prod", "std", "sum", "var"}


def _given(dim, **options) -> dict:
    return options if dim is None else {"dim": dim, **options}


def _dims(a: Tensor, dim) -> list[int]:
    if dim is None or dim == ():
        return list(range(a.dim()))
    return canonicalize_dims(a.dim(), [dim] if isinstance(dim, int) else list(dim))


def sum(a: Tensor, dim=None, keepdim=False, *, dtype=None, out=None) -> Tensor:
    """The sum over dimensions, of all elements where none is named."""
    return hotaru.sum(a, dim, keepdim, dtype=dtype, out=out)


def prod(a: Tensor, dim=None, keepdim=False, *, dtype=None, out=None) -> Tensor:
    """The product over dimensions, of all elements where none is named."""
    made = a if dtype is None else a.to(dtype)
    for each in sorted(_dims(a, dim), reverse=True):
        made = hotaru.prod(made, each, keepdim, dtype=dtype)
    made = made if a.dim() else hotaru.prod(made, dtype=dtype)
    return made if out is None else out.resize_(made.shape).copy_(made)


def mean(a: Tensor, dim=None, keepdim=False, *, dtype=None, out=None) -> Tensor:
    """The mean over dimensions, of all elements where none is named."""
    return hotaru.mean(a, dim, keepdim, dtype=dtype, out=out)


def amax(a: Tensor, dim=None, keepdim=False, *, out=None) -> Tensor:
    """The largest over dimensions, of all elements where none is named."""
    return hotaru.amax(a, () if dim is None else dim, keepdim, out=out)


def amin(a: Tensor, dim=None, keepdim=False, *, out=None) -> Tensor:
    """The smallest over dimensions, of all elements where none is named."""
    return hotaru.amin(a, () if dim is None else dim, keepdim, out=out)


def all(a: Tensor, dim=None, keepdim=False, *, out=None) -> Tensor:
    """True where every element over the dimensions is."""
    return hotaru.all(a, **_given(dim, keepdim=keepdim), out=out)


def any(a: Tensor, dim=None, keepdim=False, *, out=None) -> Tensor:
    """True where one element over the dimensions is."""
    return hotaru.any(a, **_given(dim, keepdim=keepdim), out=out)


def count_nonzero(self: Tensor, dim=None, *, out=None) -> Tensor:
    """How many elements over dimensions are not zero."""
    return hotaru.count_nonzero(self, dim, out=out)


def std(
    a: Tensor, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None
) -> Tensor:
    """The standard deviation over dimensions; `unbiased` is a correction of 1."""
    chosen = set_correction(unbiased, correction)
    return hotaru.std(a, dim, correction=chosen, keepdim=keepdim, out=out)


def var(
    a: Tensor, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None
) -> Tensor:
    """The variance over dimensions; `unbiased` is a correction of 1."""
    chosen = set_correction(unbiased, correction)
    return hotaru.var(a, dim, correction=chosen, keepdim=keepdim, out=out)
