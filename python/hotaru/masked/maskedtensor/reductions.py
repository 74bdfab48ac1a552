"""Reductions: of those elements that count."""

from __future__ import annotations

from ... import masked
from ..._answering.table import answers
from ..._C import Tensor, ops
from ._kind import STRIDED
from .core import data_of, mask_of, wrap

REDUCE_NAMES = [
    "sum",
    "mean",
    "amin",
    "amax",
    "argmin",
    "argmax",
    "prod",
    "all",
    "norm",
    "var",
    "std",
]

_OF_ANY_DTYPE = frozenset(("sum", "mean", "prod", "norm", "var", "std"))


@answers(*REDUCE_NAMES, of=STRIDED, asked=True)
def reduce(function, input, *args, **kwargs):
    """The reduction, over all dimensions or those of `dim`.

    Takes (dim, keepdim=False, dtype=None), or nothing. What remains counts
    where an element did.
    """
    name, data, mask = function.__name__, data_of(input), mask_of(input)
    reduction = _all if name == "all" else getattr(masked, name)
    if "dtype" in kwargs and name not in _OF_ANY_DTYPE:
        raise TypeError(f"{name}() got an unexpected keyword argument 'dtype'")
    if not args and not kwargs:
        return wrap(reduction(data, mask=mask), mask.any())
    dim, options = _options(*args, **kwargs)
    found = reduction(data, dim=dim, mask=mask, **options)
    return wrap(found, _any(mask, dim, options["keepdim"]))


def _options(dim, keepdim=False, dtype=None) -> tuple:
    return dim, {"keepdim": keepdim, "dtype": dtype}


def _all(data: Tensor, dim=None, keepdim=False, dtype=None, mask=None):
    given = data.masked_fill(~mask, True)
    return given.all() if dim is None else ops.all(given, dim, keepdim)


def _any(mask: Tensor, dim, keepdim: bool) -> Tensor:
    for one in sorted([dim] if isinstance(dim, int) else dim, reverse=True):
        mask = mask.any(one, keepdim=keepdim)
    return mask
