"""Functions of `nn.functional` as compiled code sees them, where Python's
differ: by an `out`, which compiled code lacks, or by arguments of any type.
"""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor
from hotaru.jit.annotations import BroadcastingList2, BroadcastingList3


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12
) -> Tensor:
    norm = input.norm(p, [dim], keepdim=True)
    return input / norm.clamp_min(eps).expand_as(input)


def _fractional_size(
    input: Tensor,
    axes: int,
    output_size: list[int] | None,
    output_ratio: list[float] | None,
) -> list[int]:
    if output_size is not None:
        return output_size
    assert output_ratio is not None, (
        "fractional_max_pool requires specifying either an output_size or an "
        "output_ratio"
    )
    sizes: list[int] = []
    for i in range(axes):
        sizes.append(int(input.size(i - axes) * output_ratio[i]))
    return sizes


def _fractional_samples(input: Tensor, axes: int, samples: Tensor | None) -> Tensor:
    if samples is not None:
        return samples
    batch = 1 if input.dim() == axes + 1 else input.size(0)
    return torch.rand(
        [batch, input.size(-axes - 1), axes], dtype=input.dtype, device=input.device
    )


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: BroadcastingList2[int] | None = None,
    output_ratio: BroadcastingList2[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    size = _fractional_size(input, 2, output_size, output_ratio)
    samples = _fractional_samples(input, 2, _random_samples)
    return torch.ops.fractional_max_pool2d(input, kernel_size, size, samples)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: BroadcastingList3[int] | None = None,
    output_ratio: BroadcastingList3[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    size = _fractional_size(input, 3, output_size, output_ratio)
    samples = _fractional_samples(input, 3, _random_samples)
    return torch.ops.fractional_max_pool3d(input, kernel_size, size, samples)


def _fractional_max_pool2d(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: BroadcastingList2[int] | None = None,
    output_ratio: BroadcastingList2[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor:
    return fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )[0]


def _fractional_max_pool3d(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: BroadcastingList3[int] | None = None,
    output_ratio: BroadcastingList3[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor:
    return fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )[0]


#: Functions chosen by a flag: its name and place, and the two functions.
BY_FLAG = {
    "fractional_max_pool2d": (
        "return_indices",
        4,
        fractional_max_pool2d_with_indices,
        _fractional_max_pool2d,
    ),
    "fractional_max_pool3d": (
        "return_indices",
        4,
        fractional_max_pool3d_with_indices,
        _fractional_max_pool3d,
    ),
}
