"""Batch normalisation over the batches of all processes."""

from __future__ import annotations

from ... import no_grad, tensor
from .functional import all_reduce


def batch_norm(
    input, running_mean, running_var, weight, bias, momentum: float, eps: float, group
):
    """As F.batch_norm in training, of all processes' inputs together.

    Means first, then the squares' of what is left, so that two messages of a
    number a channel travel; gradients go the same way back.
    """
    dims = [d for d in range(input.dim()) if d != 1]
    shape = [1, -1, *[1] * (input.dim() - 2)]
    mine = input.numel() // input.size(1)
    count = all_reduce(tensor(float(mine), dtype=input.dtype), group=group)
    mean = all_reduce(input.sum(dims), group=group) / count
    rest = input - mean.view(shape)
    var = all_reduce((rest * rest).sum(dims), group=group) / count
    with no_grad():
        if running_mean is not None:
            running_mean.lerp_(mean.to(running_mean.dtype), momentum)
            unbiased = var * (count / (count - 1))
            running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    out = rest * (var + eps).rsqrt().view(shape)
    if weight is not None:
        out = out * weight.view(shape)
    return out if bias is None else out + bias.view(shape)
