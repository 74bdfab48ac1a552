"""Pooling as compiled code sees them."""

# A BroadcastingListN takes one number in place of N; Python has no such type.
# ruff: noqa: F821
from __future__ import annotations

import hotaru as torch
from hotaru import Tensor
from hotaru.nn.functional._pooling import full_output_size


def adaptive_max_pool1d_with_indices(
    input: Tensor,
    output_size: BroadcastingList1[int],
) -> tuple[Tensor, Tensor]:
    return torch.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(
    input: Tensor,
    output_size: BroadcastingList2[int | None],
) -> tuple[Tensor, Tensor]:
    size = full_output_size(output_size, input.size())
    return torch.adaptive_max_pool2d(input, size)


def adaptive_max_pool3d_with_indices(
    input: Tensor,
    output_size: BroadcastingList3[int | None],
) -> tuple[Tensor, Tensor]:
    size = full_output_size(output_size, input.size())
    return torch.adaptive_max_pool3d(input, size)


def _adaptive_max_pool1d(
    input: Tensor,
    output_size: BroadcastingList1[int],
) -> Tensor:
    return adaptive_max_pool1d_with_indices(input, output_size)[0]


def _adaptive_max_pool2d(
    input: Tensor,
    output_size: BroadcastingList2[int | None],
) -> Tensor:
    return adaptive_max_pool2d_with_indices(input, output_size)[0]


def _adaptive_max_pool3d(
    input: Tensor,
    output_size: BroadcastingList3[int | None],
) -> Tensor:
    return adaptive_max_pool3d_with_indices(input, output_size)[0]


def _lp_root(average: Tensor, volume: int, norm_type: float) -> Tensor:
    magnitude = torch.relu(torch.abs(average))
    return (torch.sign(average) * magnitude).mul(volume).pow(1.0 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: BroadcastingList1[int],
    stride: BroadcastingList1[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    if stride is None:
        stride = kernel_size
    powers = input.pow(norm_type)
    average = torch.avg_pool1d(powers, kernel_size, stride, [0], ceil_mode)
    return _lp_root(average, kernel_size[0], norm_type)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: BroadcastingList2[int],
    stride: BroadcastingList2[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    if stride is None:
        stride = kernel_size
    powers = input.pow(norm_type)
    average = torch.avg_pool2d(powers, kernel_size, stride, [0, 0], ceil_mode)
    return _lp_root(average, kernel_size[0] * kernel_size[1], norm_type)
