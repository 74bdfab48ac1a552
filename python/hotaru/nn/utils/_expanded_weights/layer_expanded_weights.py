"""Gradients by sample of linear layers, embeddings and normalisations.

The derivative of a layer's result by its weights, before the sum over samples
that makes a usual gradient of it.
"""

from __future__ import annotations

from .... import ones_like, zeros
from ... import functional as F
from .expanded_weights_impl import implements_per_sample_grads
from .expanded_weights_utils import per_sample, sum_over_all_but_batch_and_last_n


@implements_per_sample_grads(F.linear)
def linear(input, weight, bias=None):
    """Rule of x W^T + b: sums over dimensions between batch and features."""
    if input.dim() <= 1:
        raise RuntimeError(
            "Input does not have a batch dimension. Expanded Weights expected "
            f"input of at least rank 2, got of rank {input.dim()}"
        )

    def of_weight(gradient):
        rows = gradient.reshape(len(gradient), -1, gradient.shape[-1])
        columns = input.detach().reshape(len(input), -1, input.shape[-1])
        return rows.transpose(1, 2) @ columns

    def of_bias(gradient):
        return sum_over_all_but_batch_and_last_n(gradient, 1)

    rules = [(weight, of_weight), (bias, of_bias)]
    return per_sample(F.linear, (input, weight), {"bias": bias}, rules)


@implements_per_sample_grads(F.embedding)
def embedding(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """Rule of rows that are looked up; frequencies are those in the sample.

    NotImplementedError: sparse gradients.
    """
    if sparse:
        raise NotImplementedError(
            "Expanded Weights: embedding with sparse=True has no gradients by "
            "sample; use sparse=False"
        )
    if input.dim() == 1:
        raise RuntimeError(
            "Expanded Weights needs an input with a batch size, got a 1D "
            f"tensor, {input}"
        )

    def of_weight(gradient):
        count, size = weight.shape
        index = input.reshape(len(input), -1)
        rows = gradient.reshape(*index.shape, size)
        if scale_grad_by_freq:
            seen = rows.new_zeros(len(index), count)
            seen.scatter_add_(1, index, ones_like(index, dtype=rows.dtype))
            rows = rows / seen.gather(1, index).unsqueeze(-1)
        if padding_idx is not None:
            padding = padding_idx + count if padding_idx < 0 else padding_idx
            rows = rows.masked_fill((index == padding).unsqueeze(-1), 0)
        total = zeros(len(index), count, size, dtype=rows.dtype, device=rows.device)
        places = index.unsqueeze(-1).expand(rows.shape)
        return total.scatter_add_(1, places, rows)

    options = (padding_idx, max_norm, norm_type, scale_grad_by_freq)
    return per_sample(_embedding, (input, weight, *options), {}, [(weight, of_weight)])


def _embedding(input, *options):
    return F.embedding(input, *options)


@implements_per_sample_grads(F.layer_norm)
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Rule of the last dimensions, normalised, times weight plus bias."""
    if input.dim() <= len(normalized_shape):
        raise RuntimeError(
            "Expanded Weights: Layer norm should not normalize over batch "
            "dimension for per sample gradientcomputations but got that "
            f"normalized shape, {normalized_shape}, matched input shape."
        )

    def of_bias(gradient):
        kept = len(normalized_shape)
        return sum_over_all_but_batch_and_last_n(gradient, kept)

    def of_weight(gradient):
        plain = F.layer_norm(input.detach(), normalized_shape, eps=eps)
        return of_bias(plain * gradient)

    return per_sample(
        F.layer_norm,
        (input, normalized_shape, weight, bias, eps),
        {},
        [(weight, of_weight), (bias, of_bias)],
    )


@implements_per_sample_grads(F.group_norm)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Rule of groups of channels, normalised, times weight plus bias."""

    def of_weight(gradient):
        plain = F.group_norm(input.detach(), num_groups, eps=eps)
        return _channels(plain * gradient)

    return per_sample(
        F.group_norm,
        (input, num_groups, weight, bias, eps),
        {},
        [(weight, of_weight), (bias, _channels)],
    )


@implements_per_sample_grads(F.instance_norm)
def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-5,
):
    """Rule of each sample's channels, normalised, times weight plus bias."""

    def of_weight(gradient):
        # Statistics that the call updates are not updated again.
        known = (None, None) if use_input_stats else (running_mean, running_var)
        plain = F.instance_norm(
            input.detach(), *known, use_input_stats=use_input_stats, eps=eps
        )
        return _channels(plain * gradient)

    return per_sample(
        F.instance_norm,
        (
            input,
            running_mean,
            running_var,
            weight,
            bias,
            use_input_stats,
            momentum,
            eps,
        ),
        {},
        [(weight, of_weight), (bias, _channels)],
    )


def _channels(values):
    """Sums ``[N, C, ...]`` to ``[N, C]``."""
    return values.flatten(2).sum(2) if values.dim() > 2 else values
