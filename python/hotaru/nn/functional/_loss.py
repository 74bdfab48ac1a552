"""Losses.

`reduction` is "mean", "sum" or "none". The positional `size_average` and
`reduce` of early programs are accepted and turned into a reduction.
"""

from __future__ import annotations

import math
import warnings

import hotaru

from ... import Tensor, ops
from .._reduction import check_reduction, get_enum, legacy_get_string


def legacy_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """The reduction that the two old flags meant; warns."""
    reduction = legacy_get_string(size_average, reduce, emit_warning=False)
    warnings.warn(
        "size_average and reduce args will be deprecated, please use "
        f"reduction='{reduction}' instead.",
        stacklevel=3,
    )
    return reduction


def reduction_code(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> int:
    """ATen's number of a reduction; ValueError for an unknown one."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    return get_enum(reduction)


def _check_known(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")


def check_exponent(p: int) -> None:
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def _reduce(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def _match(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Broadcasts the two; warns if there is anything to broadcast."""
    if input.shape == target.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input "
        f"size ({input.size()}). This will likely lead to incorrect results "
        "due to broadcasting. Please ensure they have the same size.",
        stacklevel=3,
    )
    input, target = ops.broadcast_tensors([input, target])
    return input, target


def _weighted(
    loss: Tensor,
    weight: Tensor,
    reduction: str,
    size_average: bool | None = None,
    reduce: bool | None = None,
) -> Tensor:
    """Reduces elementwise losses with a weight each, a mean by their sum."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    if weight.size() != loss.size():
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    if reduction == "mean":
        return loss.sum() / weight.sum()
    if reduction not in ("sum", "none"):
        raise ValueError(
            f"Invalid reduction mode: {reduction}. "
            "Expected one of 'none', 'mean', 'sum'."
        )
    return _reduce(loss, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|; shapes (*), (*)."""
    input, target = _match(input, target)
    if weight is not None:
        loss = ops.l1_loss(input, target, 0)
        return _weighted(loss, weight, reduction, size_average, reduce)
    code = reduction_code(reduction, size_average, reduce)
    return ops.l1_loss(input, target, code)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target)²; shapes (*), (*)."""
    input, target = _match(input, target)
    if weight is not None:
        loss = ops.mse_loss(input, target, 0)
        return _weighted(loss, weight, reduction, size_average, reduce)
    code = reduction_code(reduction, size_average, reduce)
    return ops.mse_loss(input, target, code)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """0.5 d² / beta where |d| < beta, else |d| - 0.5 beta."""
    code = reduction_code(reduction, size_average, reduce)
    input, target = _match(input, target)
    if beta == 0.0:
        return ops.l1_loss(input, target, code)
    return ops.smooth_l1_loss(input, target, code, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """0.5 d² where |d| < delta, else delta * (|d| - 0.5 delta).

    With weights a mean is that of the weighted losses, by their number.
    """
    input, target = _match(input, target)
    if weight is None:
        return ops.huber_loss(input, target, reduction_code(reduction), delta)
    loss = ops.huber_loss(input, target, 0, delta)
    if reduction != "mean":
        return _weighted(loss, weight, reduction)
    return _weighted(loss, weight, "none").mean()


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of softmax(input) and `target`.

    Shapes: input (N, C, *) or (C); target class indices (N, *) or probabilities
    of input's shape; weight (C).
    """
    code = reduction_code(reduction, size_average, reduce)
    return ops.cross_entropy_loss(
        input, target, weight, code, ignore_index, label_smoothing
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-input[target] of log probabilities (N, C, *) or (C)."""
    code = reduction_code(reduction, size_average, reduce)
    return ops.nll_loss_nd(input, target, weight, code, ignore_index)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(target log(input) + (1 - target) log(1 - input)); logs >= -100."""
    code = reduction_code(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the "
            f"input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    if weight is not None and weight.shape != target.shape:
        weight = hotaru.broadcast_to(weight, target.shape)
    return ops.binary_cross_entropy(input, target, weight, code)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(input), without overflow."""
    code = reduction_code(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size "
            f"({input.size()})"
        )
    return ops.binary_cross_entropy_with_logits(input, target, weight, pos_weight, code)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """`target` * (log(target) - input); "batchmean" divides by the batch."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size "
            "and the support size.'batchmean' divides only by the batch size, "
            "and aligns with the KL div math definition.'mean' will be changed "
            "to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    per_batch = reduction == "batchmean"
    code = reduction_code("sum" if per_batch else reduction)
    loss = ops.kl_div(input, target, code, log_target=log_target)
    return loss / input.size(0) if per_batch and input.dim() > 0 else loss


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """exp(input) - target * input, of counts; `full` adds Stirling's term."""
    check_reduction(reduction)  # also where the old flags decide
    code = reduction_code(reduction, size_average, reduce)
    return ops.poisson_nll_loss(input, target, log_input, full, eps, code)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """0.5 (log(var) + (input - target)² / var), var clamped to eps.

    `var` has input's shape, or a last axis of one, or lacks it.

    Raises:
        ValueError: negative variance, or another shape.
    """
    if isinstance(var, Tensor):
        variance = var
        negative = bool((var < 0).any())
    else:
        variance = var * hotaru.ones_like(input)
        negative = var < 0
    if negative:
        raise ValueError("var has negative entry/entries")
    shape, given = input.size(), variance.size()
    if given != shape:
        if shape[:-1] == given:
            variance = variance.unsqueeze(-1)
        elif shape[:-1] != given[:-1] or variance.size(-1) != 1:
            one_off = False
            for wanted, size in zip(shape, given):
                one_off = one_off or (wanted != size and size == 1)
            if len(shape) != len(given) or not one_off:
                raise ValueError("var is of incorrect size")
    _check_known(reduction)
    # The clamp is invisible to the gradient.
    variance = variance.clone()
    with hotaru.no_grad():
        variance.clamp_(min=eps)
    loss = 0.5 * (variance.log() + (input - target) ** 2 / variance)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return _reduce(loss, reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`input` where target is 1, max(0, margin - input) where it is -1."""
    code = reduction_code(reduction, size_average, reduce)
    return ops.hinge_embedding_loss(input, target, margin, code)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin), target ±1."""
    code = reduction_code(reduction, size_average, reduce)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same "
            f"dimension but got sizes: input1: {input1.size()}, input2: "
            f"{input2.size()}, target: {target.size()} "
        )
    return ops.margin_ranking_loss(input1, input2, target, margin, code)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1."""
    code = reduction_code(reduction, size_average, reduce)
    return ops.cosine_embedding_loss(input1, input2, target, margin, code)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-target * input)), target ±1."""
    code = reduction_code(reduction, size_average, reduce)
    return ops.soft_margin_loss(input, target, code)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Hinge over pairs of wrong and right classes; target padded with -1."""
    code = reduction_code(reduction, size_average, reduce)
    return ops.multilabel_margin_loss(input, target, code)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over classes of the binary cross entropy of sigmoid(input)."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    loss = -(target * ops.log_sigmoid(input) + (1 - target) * ops.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    classes = input.size(input.dim() - 1)
    loss = loss.sum(dim=input.dim() - 1) / classes
    _check_known(reduction)
    return _reduce(loss, reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Sum over wrong classes of max(0, margin - x[right] + x)^p / C."""
    code = reduction_code(reduction, size_average, reduce)
    check_exponent(p)
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return ops.multi_margin_loss(input, target, p, margin, weight, code)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), p-norms."""
    code = reduction_code(reduction, size_average, reduce)
    _check_margin(margin)
    return ops.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, code
    )


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function=None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of the caller's."""
    check_reduction(reduction)
    _check_margin(margin)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have "
            f"the same number of dimensions, but got: anchor {anchor.ndim}D, "
            f"positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    distance = ops.pairwise_distance if distance_function is None else distance_function
    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = hotaru.minimum(far, distance(positive, negative))
    return _reduce((margin + near - far).clamp_min(0), reduction)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification (Graves et al. 2006).

    Shapes: log_probs (T, N, C) or (T, C); targets (N, S) or one concatenated
    row; lengths (N).
    """
    return ops.ctc_loss(
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        reduction_code(reduction),
        zero_infinity,
    )
