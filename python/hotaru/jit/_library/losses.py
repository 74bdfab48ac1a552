"""Losses as compiled code sees them."""

from __future__ import annotations

import math

import hotaru as torch
from hotaru import Tensor


def _code(
    reduction: str, size_average: bool | None, reduce: bool | None
) -> int:
    if size_average is not None or reduce is not None:
        average = True if size_average is None else size_average
        reduces = True if reduce is None else reduce
        if not reduces:
            return 0
        return 1 if average else 2
    if reduction == "none":
        return 0
    if reduction == "mean":
        return 1
    if reduction == "sum":
        return 2
    raise ValueError(f"{reduction} is not a valid value for reduction")


def _reduce(loss: Tensor, code: int) -> Tensor:
    if code == 1:
        return loss.mean()
    if code == 2:
        return loss.sum()
    return loss


def _weighted(loss: Tensor, weight: Tensor, code: int) -> Tensor:
    if weight.size() != loss.size():
        raise ValueError("Weights and input must have the same size.")
    if code == 1:
        return (loss * weight).sum() / weight.sum()
    return _reduce(loss * weight, code)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    input, target = torch.broadcast_tensors([input, target])
    if weight is not None:
        return _weighted(torch.l1_loss(input, target, 0), weight, code)
    return torch.l1_loss(input, target, code)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    input, target = torch.broadcast_tensors([input, target])
    if weight is not None:
        return _weighted(torch.mse_loss(input, target, 0), weight, code)
    return torch.mse_loss(input, target, code)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    input, target = torch.broadcast_tensors([input, target])
    if beta == 0.0:
        return torch.l1_loss(input, target, code)
    return torch.smooth_l1_loss(input, target, code, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    code = _code(reduction, None, None)
    input, target = torch.broadcast_tensors([input, target])
    if weight is not None:
        loss = torch.huber_loss(input, target, 0, delta)
        return _weighted(loss, weight, code)
    return torch.huber_loss(input, target, code, delta)


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
    code = _code(reduction, size_average, reduce)
    return torch.cross_entropy_loss(
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
    code = _code(reduction, size_average, reduce)
    return torch.nll_loss_nd(input, target, weight, code, ignore_index)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the "
            f"input size ({input.size()}) is deprecated. Please ensure they "
            "have the same size."
        )
    if weight is not None:
        weight = weight.expand(target.size())
    return torch.binary_cross_entropy(input, target, weight, code)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size "
            f"({input.size()})"
        )
    return torch.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, code
    )


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    if reduction == "batchmean":
        loss = torch.kl_div(input, target, 2, log_target=log_target)
        if input.dim() == 0:
            return loss
        return loss / input.size(0)
    code = _code(reduction, size_average, reduce)
    return torch.kl_div(input, target, code, log_target=log_target)


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
    code = _code(reduction, size_average, reduce)
    return torch.poisson_nll_loss(input, target, log_input, full, eps, code)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    if bool(torch.any(torch.lt(var, 0))):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = torch.unsqueeze(var, -1)
        elif input.size()[:-1] != var.size()[:-1] or var.size(-1) != 1:
            raise ValueError("var is of incorrect size")
    var = var.clone()
    with torch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce(loss, _code(reduction, None, None))


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    return torch.hinge_embedding_loss(input, target, margin, code)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same "
            f"dimension but got sizes: input1: {input1.size()}, input2: "
            f"{input2.size()}, target: {target.size()} "
        )
    return torch.margin_ranking_loss(input1, input2, target, margin, code)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    return torch.cosine_embedding_loss(input1, input2, target, margin, code)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    return torch.soft_margin_loss(input, target, code)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    return torch.multilabel_margin_loss(input, target, code)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    right = target * torch.log_sigmoid(input)
    loss = -(right + (1 - target) * torch.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(dim=[input.dim() - 1]) / input.size(input.dim() - 1)
    return _reduce(loss, code)


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
    code = _code(reduction, size_average, reduce)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    return torch.multi_margin_loss(input, target, p, margin, weight, code)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    code = _code(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return torch.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, code
    )


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    code = _code(reduction, None, None)
    return torch.ctc_loss(
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        code,
        zero_infinity,
    )
