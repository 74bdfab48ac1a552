"""Look-ups in a table of vectors."""

from __future__ import annotations

import warnings

import hotaru

from ... import Tensor, ops
from . import _table_gradients


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` (V, E) at integer `input` (*) -> (*, E).

    Args:
        input: integers.
        weight: the table.
        padding_idx: the row that receives no gradient.
        max_norm: rows that are looked up are first scaled down, in place, to
            this norm.
        norm_type: which norm.
        scale_grad_by_freq: divides gradients by how often the row occurs.
        sparse: whether the gradient of the table is sparse, in coordinates: of
            the rows that are looked up, as often as they are.

    Raises:
        IndexError: an index out of range.
    """
    row = _row(padding_idx, weight)
    if max_norm is not None:
        input = input.contiguous()
        ops.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    # Asked in this order: the module of programs is not loaded for it.
    if sparse and not hotaru.jit.is_scripting():
        return _table_gradients.embedding(weight, input, row, scale_grad_by_freq)
    return ops.embedding(weight, input, row, scale_grad_by_freq, sparse)


def _row(padding_idx: int | None, weight: Tensor) -> int:
    row = -1
    # One return: such a function becomes part of a frozen program.
    if padding_idx is not None:
        rows = weight.size(0)
        if padding_idx < -rows or padding_idx >= rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        row = padding_idx % rows
    return row


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sum, mean or maximum of bags of rows of `weight` (V, E).

    `input` is (B, N), B bags of N, or (N,) with `offsets` (B,), where each bag
    starts. The result is (B, E).

    Raises:
        ValueError: shapes, dtypes or modes that do not go together.
    """
    if not weight.is_floating_point() and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now "
            "be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    _check_bags(input, offsets, per_sample_weights)
    if offsets is None:
        offsets = ops.arange(
            0, input.numel(), input.size(1), dtype=input.dtype, device=input.device
        )
        include_last_offset = False  # every offset starts a bag
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    number = _mode_number(mode, scale_grad_by_freq, sparse)
    if max_norm is not None:
        ops.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. "
            "per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    if sparse and not hotaru.jit.is_scripting():
        return _table_gradients.embedding_bag(
            weight,
            input,
            offsets,
            scale_grad_by_freq,
            number,
            per_sample_weights,
            include_last_offset,
            padding_idx,
        )
    return ops.embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        number,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]


def _check_bags(
    input: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None
) -> None:
    """ValueError for shapes that do not go together."""
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            "embedding_bag: If per_sample_weights "
            f"({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if input.dim() == 2:
        if offsets is not None:
            kind = "<unknown>" if hotaru.jit.is_scripting() else str(type(offsets))
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is "
                "treated is a mini-batch of fixed length sequences. "
                f"However, found offsets of type {kind}"
            )
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(
            "input has to be 1D or 2D Tensor, but got Tensor of dimension "
            f"{input.dim()}"
        )


def _mode_number(mode: str, scale_grad_by_freq: bool, sparse: bool) -> int:
    """The number of a mode; ValueError for what it does not go with."""
    if mode == "sum":
        number = 0
    elif mode == "mean":
        number = 1
    elif mode == "max":
        number = 2
    else:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError(
            "max mode does not support scaling the gradient by the frequency"
        )
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    return number
