"""Batch normalisation in steps, between which processes add up what they have.

Statistics of each part (`batch_norm_stats`), of all (`batch_norm_gather_stats`)
and the normalised input (`batch_norm_elemt`); backwards the sums of each part
(`batch_norm_backward_reduce`) and the gradient of the input
(`batch_norm_backward_elemt`). PyTorch has them on CUDA alone.

Channels are dimension 1; `invstd` is 1 / sqrt(variance + eps), the variance
the one with bias.
"""

from __future__ import annotations

from .. import Tensor
from .._overrides import overridable as _overridable

__all__ = [
    "batch_norm_backward_elemt",
    "batch_norm_backward_reduce",
    "batch_norm_elemt",
    "batch_norm_gather_stats",
    "batch_norm_gather_stats_with_counts",
    "batch_norm_stats",
    "batch_norm_update_stats",
]


def _others(input: Tensor) -> list[int]:
    """All dimensions but that of the channels."""
    return [d for d in range(input.dim()) if d != 1]


def _spread(values: Tensor, input: Tensor) -> Tensor:
    """Values of the channels, to go with the input."""
    return values.view(-1, *[1] * (input.dim() - 2))


def batch_norm_stats(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """The means and invstd of the channels."""
    var = input.var(_others(input), correction=0)
    return input.mean(_others(input)), (var + eps).rsqrt()


def batch_norm_update_stats(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
) -> tuple[Tensor, Tensor]:
    """The means and variances of the channels.

    What is kept of earlier batches moves towards them by `momentum`, towards
    the variance without bias. RuntimeError for an empty batch.
    """
    if input.numel() == 0:
        raise RuntimeError(
            "input tensor must have at least one element, but got input_sizes = "
            f"{list(input.shape)}"
        )
    mean = input.mean(_others(input))
    var = input.var(_others(input), correction=0)
    count = input.numel() // input.size(1)
    _move(running_mean, mean, momentum)
    _move(running_var, var * (count / max(count - 1, 1)), momentum)
    return mean, var


def _move(running: Tensor | None, found: Tensor, momentum: float) -> None:
    if running is not None:
        running.lerp_(found.to(running.dtype), momentum)


def batch_norm_gather_stats(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    count: int,
) -> tuple[Tensor, Tensor]:
    """As `batch_norm_gather_stats_with_counts`, of parts of one size."""
    counts = mean.new_full((mean.size(0),), count)
    return batch_norm_gather_stats_with_counts(
        input, mean, invstd, running_mean, running_var, momentum, eps, counts
    )


def batch_norm_gather_stats_with_counts(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    counts: Tensor,
) -> tuple[Tensor, Tensor]:
    """The means and invstd of all parts together.

    Args:
        input: of one part; nothing of it is looked at.
        mean, invstd: [parts, channels].
        running_mean, running_var: move as in `batch_norm_update_stats`.
        counts: elements of a channel in each part, [parts].
    """
    counts = counts.to(mean.dtype)[:, None]
    total = counts.sum()
    joined = (mean * counts).sum(0) / total
    # Sums of squares around the mean of each part, moved to that of all.
    squares = (invstd**-2 - eps + (mean - joined) ** 2) * counts
    squares = squares.sum(0)
    _move(running_mean, joined, momentum)
    _move(running_var, squares / (total - 1).clamp(min=1), momentum)
    return joined, (squares / total + eps).rsqrt()


def batch_norm_elemt(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    invstd: Tensor,
    eps: float,
) -> Tensor:
    """The input, normalised; `eps` is in `invstd` already."""
    scale = invstd if weight is None else invstd * weight
    found = (input - _spread(mean, input)) * _spread(scale, input)
    if bias is not None:
        found = found + _spread(bias, input)
    return found.to(input.dtype)


def batch_norm_backward_reduce(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    input_g: bool,
    weight_g: bool,
    bias_g: bool,
) -> tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None]:
    """Sums over a part, by channel: of the gradient and of it times the
    distance to the mean, if the input has a gradient; those of weight and bias,
    if they have. None for what has none.
    """
    others = _others(input)
    total = grad_out.sum(others)
    along = (grad_out * (input - _spread(mean, input))).sum(others)
    return (
        total if input_g else None,
        along if input_g else None,
        along * invstd if weight_g else None,
        total.clone() if bias_g else None,
    )


def batch_norm_backward_elemt(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    sum_dy: Tensor,
    sum_dy_xmu: Tensor,
    count: Tensor,
) -> Tensor:
    """The gradient of a part's input.

    Args:
        sum_dy, sum_dy_xmu: of all parts.
        count: elements of a channel in each part.
    """
    total = count.sum().to(mean.dtype)
    slope = invstd**2 * sum_dy_xmu / total
    found = (
        grad_out
        - _spread(sum_dy / total, input)
        - (input - _spread(mean, input)) * _spread(slope, input)
    )
    scale = invstd if weight is None else invstd * weight
    return (found * _spread(scale, input)).to(input.dtype)


_overridable(globals(), __all__, "hotaru")
