"""Steps of PyTorch's attention that other libraries' layers call by name."""

from __future__ import annotations

import warnings

import hotaru

from ... import Tensor
from ._attention import _check_mask_kind


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: hotaru.dtype | None,
    other_name: str,
    target_type: hotaru.dtype,
    check_other: bool = True,
) -> Tensor | None:
    """A mask to be added to scores: of a boolean one -inf where it is True.

    Warns where `check_other` and the other mask is of another dtype; raises
    AssertionError for a mask of integers.
    """
    if mask is not None:
        _check_mask_kind(mask, mask_name)
        floating = hotaru.is_floating_point(mask)
        if check_other and other_type is not None:  # noqa: SIM102
            if mask.dtype != other_type:
                warnings.warn(
                    f"Support for mismatched {mask_name} and {other_name} "
                    "is deprecated. Use same type for both instead.",
                    stacklevel=2,
                )
        if not floating:
            mask = hotaru.zeros_like(mask, dtype=target_type).masked_fill_(
                mask, float("-inf")
            )
    return mask


def _none_or_dtype(input: Tensor | None) -> hotaru.dtype | None:
    """The dtype of a tensor, None of None; RuntimeError of anything else."""
    if input is None:
        return None
    elif isinstance(input, Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value by their own weights, which are (Eq, E)."""
    eq, ek, ev = q.size(-1), k.size(-1), v.size(-1)
    _check_projection("query", w_q, b_q, eq, eq)
    _check_projection("key", w_k, b_k, eq, ek)
    _check_projection("value", w_v, b_v, eq, ev)
    linear = hotaru.nn.functional.linear
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _check_projection(
    name: str, weight: Tensor, bias: Tensor | None, rows: int, columns: int
) -> None:
    """AssertionError unless a weight is (rows, columns) and a bias (rows)."""
    if weight.shape != (rows, columns):
        raise AssertionError(
            f"expecting {name} weights shape of {(rows, columns)}, "
            f"but got {weight.shape}"
        )
    if bias is not None and bias.shape != (rows,):
        raise AssertionError(
            f"expecting {name} bias shape of {(rows,)}, but got {bias.shape}"
        )


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value by weights (3 E, E) that stand one on another."""
    weights = w.chunk(3)
    biases = (None, None, None) if b is None else b.chunk(3)
    linear = hotaru.nn.functional.linear
    q, k, v = map(linear, (q, k, v), weights, biases)
    return q, k, v
