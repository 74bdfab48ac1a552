"""Helpers of several distributions: broadcasting, and parameters of a choice.

Probabilities and logits: logits of a choice of one among n are logarithms of
probabilities up to a constant along the last dimension, those of a binary
choice log(p / (1 - p)).
"""

from __future__ import annotations

from functools import update_wrapper
from numbers import Number

import hotaru as torch

from .. import Tensor
from ..nn import functional as F
from ..overrides import is_tensor_like

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286


def broadcast_all(*values) -> tuple[Tensor, ...]:
    """Tensors of one shape from tensors and numbers.

    Numbers get dtype and device of the first tensor, or the default dtype.
    ValueError for anything else.
    """
    if not all(is_tensor_like(v) or isinstance(v, Number) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or "
            "objects implementing __torch_function__."
        )
    like = next((v for v in values if is_tensor_like(v)), None)
    if like is None:
        options = {"dtype": torch.get_default_dtype()}
    else:
        options = {"dtype": like.dtype, "device": like.device}
    tensors = tuple(
        v if is_tensor_like(v) else torch.tensor(v, **options) for v in values
    )
    if all(v.shape == tensors[0].shape for v in tensors):
        return tensors  # themselves, not views
    return torch.broadcast_tensors(*tensors)


def _standard_normal(shape, dtype, device) -> Tensor:
    return torch.empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last `dim` dimensions, together."""
    if dim == 0:
        return value
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of logits, in the last dimension unless binary."""
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities at least the dtype's eps away from 0 and 1."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Finite logits of probabilities; those are clamped first."""
    clamped = clamp_probs(probs)
    logits = torch.log(clamped)
    return logits - torch.log1p(-clamped) if is_binary else logits


class lazy_property:  # noqa: N801
    """A property computed when first asked for, then an attribute.

    Computed with gradients enabled, whoever asks. Asked of the class, it gives
    an object that is a property, too, for tools that document.
    """

    def __init__(self, wrapped) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance, owner=None):
        if instance is None:
            return _LazyPropertyOfClass(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyPropertyOfClass(lazy_property, property):
    def __init__(self, wrapped) -> None:
        property.__init__(self, wrapped)


def _lower_places(n: int, diag: int, device) -> Tensor:
    """Where an n by n matrix in one row has entries up to a diagonal."""
    rows, columns = torch.tril_indices(n, n, diag, device=device)
    return rows * n + columns


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Entries of matrices up to a diagonal, (..., n, n) to (..., k), by rows.

    ValueError for a diagonal outside of [-n, n - 1].
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    places = _lower_places(n, diag, mat.device)
    return mat.flatten(-2).index_select(-1, places)


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The inverse of `tril_matrix_to_vec`, with zeros in all other entries.

    ValueError where no matrix has as many entries up to that diagonal.
    """
    # Rows have 1 + diag, 2 + diag, ... entries; those above the diagonal's
    # end are cut on either side: solve the quadratic for the rows' number.
    count, shift = vec.shape[-1], 1 + 2 * diag
    full = 8 * count + 4 * abs(diag) * (diag + 1)
    n = ((shift**2 + full) ** 0.5 - shift) / 2
    if round(n) - n > torch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed "
            "as the lower triangular part of a square D x D matrix."
        )
    n = round(n)
    flat = vec.new_zeros(vec.shape[:-1] + (n * n,))
    flat = flat.index_copy(-1, _lower_places(n, diag, vec.device), vec)
    return flat.unflatten(-1, (n, n))
