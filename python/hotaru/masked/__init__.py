"""Reductions and scans of those elements alone that a mask lets through.

All take `mask`: True where an element counts, of any shape that broadcasts to
the input's; None lets all through. An element that does not count is replaced
by what changes no result (0 in a sum, -inf in a maximum), and that is also the
result where a mask lets nothing through; means and variances are NaN there.
`dtype` is that of the result, or by default the input's, `keepdim` keeps
reduced dimensions with size 1, and `dim` is one dimension, several, or None for
all. Raises IndexError for a mask of more dimensions than the input.
"""

from __future__ import annotations

from .._own_names import no_attribute
from ._masks import (
    _canonical_dim,
    _combine_input_and_mask,
    _input_mask,
    _output_mask,
    _reduction_identity,
    _where,
)
from ._normalize import log_softmax, normalize, softmax, softmin
from ._reduce import (
    amax,
    amin,
    argmax,
    argmin,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    prod,
    std,
    sum,
    var,
)
from ._scan import cumprod, cumsum

_TENSORS = ("MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor")


def __getattr__(name: str):
    # Imported when first asked for: the functions above do without it.
    if name in _TENSORS:
        from . import maskedtensor

        return globals().setdefault(name, getattr(maskedtensor, name))
    raise no_attribute(__name__, name)


__all__ = [
    "MaskedTensor",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "as_masked_tensor",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "masked_tensor",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]
