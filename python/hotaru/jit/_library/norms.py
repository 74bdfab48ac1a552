"""Normalisation as compiled code sees them."""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor


def _check_batch_size(shape: list[int]) -> None:
    count = shape[0]
    for size in shape[2:]:
        count *= size
    if count == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input "
            f"size {shape}"
        )


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
    if training:
        _check_batch_size(input.size())
    return torch.batch_norm(
        input,
        weight,
        bias,
        running_mean,
        running_var,
        training,
        momentum,
        eps,
        False,
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
    if use_input_stats:
        count = 1
        for size in input.size()[2:]:
            count *= size
        if count == 1:
            raise ValueError(
                "Expected more than 1 spatial element when training, got input "
                f"size {input.size()}"
            )
    return torch.instance_norm(
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


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    if input.dim() < 2:
        raise RuntimeError(
            "Expected at least 2 dimensions for input tensor but received "
            f"{input.dim()}"
        )
    shape = input.size()
    groups = [shape[0] * shape[1] // num_groups, num_groups]
    _check_batch_size(groups + shape[2:])
    return torch.group_norm(input, num_groups, weight, bias, eps, False)


def layer_norm(
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    return torch.layer_norm(input, normalized_shape, weight, bias, eps, False)


def rms_norm(
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    return torch.rms_norm(input, normalized_shape, weight, eps)


def local_response_norm(
    input: Tensor,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
) -> Tensor:
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.dim()} "
            "dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = input.mul(input).unsqueeze(1)
    shape = input.size()
    before = size // 2
    after = (size - 1) // 2
    if input.dim() == 3:
        squares = torch.pad(squares, [0, 0, before, after])
        mean = torch.avg_pool2d(squares, [size, 1], [1]).squeeze(1)
    else:
        squares = squares.view(shape[0], 1, shape[1], shape[2], -1)
        squares = torch.pad(squares, [0, 0, 0, 0, before, after])
        mean = torch.avg_pool3d(squares, [size, 1, 1], [1]).squeeze(1)
        mean = mean.view(shape)
    return input / mean.mul(alpha).add(k).pow(beta)


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12
) -> Tensor:
    norm = input.norm(p, [dim], keepdim=True)
    return input / norm.clamp_min(eps).expand_as(input)
