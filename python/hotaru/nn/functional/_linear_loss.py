"""A linear layer and the cross entropy of what it gives, as one function."""

from __future__ import annotations

from ... import Tensor, ops
from ._loss import cross_entropy


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options=None,
) -> Tensor:
    """`cross_entropy` of `linear(input, linear_weight, linear_bias)`.

    Args:
        input: (features) or (N, features).
        linear_weight: (classes, *places, features).
        target: classes (N, *places), or probabilities (N, classes, *places).
        linear_bias: (classes, *places).
        weight: of each class.
        reduction: "mean", "sum" or "none".
        ignore_index: a class that does not count; of classes by default -100.
        label_smoothing: 0 to 1.
        options: accepted; how PyTorch saves memory here.

    Raises:
        RuntimeError: shapes that do not fit, or `ignore_index` beside
            probabilities.
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(
            f"expected input with dimensionality 1 or 2, got {input.dim()}"
        )
    if linear_weight.dim() < 2:
        raise RuntimeError(
            "expected linear_weight with dimensionality at least 2, got "
            f"{linear_weight.dim()}"
        )
    features = input.shape[-1]
    if features != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions "
            f"(in_features), got {features} and {linear_weight.shape[-1]}, "
            "respectively"
        )
    places = tuple(linear_weight.shape[1:-1])
    if places and input.dim() == 1:
        raise RuntimeError(
            "K-dimensional loss defined by linear_weight shape "
            f"{tuple(linear_weight.shape)} requires batched input, (N, "
            f"{features}), got unbatched input with shape {tuple(input.shape)}"
        )
    shape = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != shape:
        raise RuntimeError(
            f"expected linear_bias shape {shape}, got {tuple(linear_bias.shape)}"
        )
    if ignore_index is None:
        ignore_index = -100
    elif target.is_floating_point():
        raise RuntimeError(
            "ignore_index cannot be specified when target contains probabilities"
        )
    if places:
        linear_weight = linear_weight.flatten(0, -2)
        linear_bias = None if linear_bias is None else linear_bias.flatten()
    logits = ops.linear(input, linear_weight, linear_bias)
    if places:
        logits = logits.reshape(input.shape[0], *shape)
    return cross_entropy(
        logits,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )
