"""Normalisation."""

from __future__ import annotations

import hotaru

from ... import Tensor, ops
from ...autograd._transforms import check_statistics


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalises each channel of (N, C, *) over all other axes.

    In training the batch's statistics are used, and the running ones (C,)
    updated in place: running += momentum * (batch - running).

    Raises:
        ValueError: one value per channel in training, or an `eps` that lets
            a variance of 0 be divided by.
        RuntimeError: running statistics would change once for each slice of
            `vmap`.
    """
    if training:
        check_batch_size(input.shape)
        if eps <= 0.0:
            raise ValueError(
                f"batch_norm eps must be positive during training, but got {eps}"
            )
        # Statistics must not change in what a transform calls for each slice.
        if running_mean is not None and not hotaru.jit.is_scripting():
            check_statistics(None, running_mean, running_var)
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return ops.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, False
    )


def check_batch_size(shape: list[int]) -> None:
    """ValueError if a channel of (N, C, *) has only one value."""
    count = shape[0]
    for size in shape[2:]:
        count *= size
    if count == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input "
            f"size {shape}"
        )


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalises each channel of each sample of (N, C, *) over *."""
    if use_input_stats:
        count = 1
        for size in input.shape[2:]:
            count *= size
        if count == 1:
            raise ValueError(
                "Expected more than 1 spatial element when training, got input "
                f"size {input.shape}"
            )
        if running_mean is not None and not hotaru.jit.is_scripting():
            check_statistics(None, running_mean, running_var)
    return ops.instance_norm(
        input,
        weight,
        bias,
        running_mean,
        running_var,
        use_input_stats,
        momentum,
        eps,
        False,
    )


def layer_norm(
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalises over the last axes, which have `normalized_shape`."""
    return ops.layer_norm(input, normalized_shape, weight, bias, eps, False)


def rms_norm(
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divides by the root mean square over the last axes.

    `eps` is the dtype's where left out.
    """
    return ops.rms_norm(input, normalized_shape, weight, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalises each of `num_groups` groups of channels of (N, C, *)."""
    if input.dim() < 2:
        raise RuntimeError(
            "Expected at least 2 dimensions for input tensor but received "
            f"{input.dim()}"
        )
    shape = input.shape
    groups = [shape[0] * shape[1] // num_groups, num_groups]
    check_batch_size(groups + list(shape[2:]))
    return ops.group_norm(input, num_groups, weight, bias, eps, False)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """`x` / (k + alpha * mean of x² over `size` neighbouring channels)^beta.

    Shape: (N, C, *) with at least one further axis.
    """
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          "
            f"input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = input.mul(input).unsqueeze(1)
    shape = input.shape
    before, after = size // 2, (size - 1) // 2
    if input.dim() == 3:
        squares = ops.pad(squares, [0, 0, before, after])
        mean = ops.avg_pool2d(squares, [size, 1], 1).squeeze(1)
    else:
        squares = squares.view(shape[0], 1, shape[1], shape[2], -1)
        squares = ops.pad(squares, [0, 0, 0, 0, before, after])
        mean = ops.avg_pool3d(squares, [size, 1, 1], 1).squeeze(1).view(shape)
    return input / mean.mul(alpha).add(k).pow(beta)


def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | tuple[int, ...] = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """`x` / max(p-norm of x along `dim`, eps)."""
    norm = input.norm(p, dim, keepdim=True)
    if out is None:
        return input / norm.clamp_min(eps).expand_as(input)
    return ops.div(input, norm.clamp_min_(eps).expand_as(input), out=out)
