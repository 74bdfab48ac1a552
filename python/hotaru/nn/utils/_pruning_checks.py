"""How much to prune: what amounts mean, and which make no sense."""

from __future__ import annotations

import numbers

from ... import Tensor


def _validate_pruning_amount_init(amount) -> None:
    """Raises TypeError for what is no number; ValueError for a fraction outside
    [0, 1] and a negative count.
    """
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    highest = float("inf") if isinstance(amount, numbers.Integral) else 1.0
    if not 0 <= amount <= highest:
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or "
            "a non-negative integer"
        )


def _validate_pruning_amount(amount, tensor_size: int) -> None:
    """Raises ValueError for a count above the number there is."""
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters "
            f"to prune={tensor_size}"
        )


def _validate_structured_pruning(t: Tensor) -> None:
    """Raises ValueError for a tensor without channels."""
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional "
            f"tensors. Found tensor of shape {t.shape} with {t.dim()} dims"
        )


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    """Raises IndexError for an axis that is not there."""
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_nparams_toprune(amount, tensor_size: int) -> int:
    """How many that is: the amount, or the nearest number to a fraction."""
    if isinstance(amount, numbers.Integral):
        return amount
    return round(amount * tensor_size)


def _compute_norm(t: Tensor, n, dim: int) -> Tensor:
    """The n-norm (see `torch.norm`) of each index of axis `dim`."""
    axes = list(range(t.dim()))
    del axes[dim]
    return t.norm(p=n, dim=axes)
