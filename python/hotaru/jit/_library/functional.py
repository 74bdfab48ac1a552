"""Functions of `nn.functional` as compiled code sees them, where Python's
differ: by an `out`, which compiled code lacks, or by arguments of any type.
"""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor
from hotaru.jit.annotations import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
)
from hotaru.nn.utils.rnn import PackedSequence


def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    norm = input.norm(p, [dim], keepdim=True)
    made = input / norm.clamp_min(eps).expand_as(input)
    if out is not None:
        return out.resize_(made.size()).copy_(made)
    return made


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


def _unpooled_size(
    input: Tensor,
    axes: int,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    output_size: list[int] | None,
) -> list[int]:
    default: list[int] = []
    for i in range(axes):
        steps = (input.size(i - axes) - 1) * stride[i]
        default.append(steps + kernel_size[i] - 2 * padding[i])
    if output_size is None:
        return default
    wanted = output_size[2:] if len(output_size) == axes + 2 else output_size
    if len(wanted) != axes:
        raise ValueError(
            f"output_size should be a sequence containing {axes} or {axes + 2} "
            f"elements, but it has a length of '{len(wanted)}'"
        )
    for i in range(axes):
        least, most = default[i] - stride[i], default[i] + stride[i]
        if not least < wanted[i] < most:
            raise ValueError(
                f'invalid output_size "{wanted}" (dim {i} must be between '
                f"{least} and {most})"
            )
    return wanted


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: BroadcastingList1[int] | None = None,
    padding: BroadcastingList1[int] = (0,),
    output_size: list[int] | None = None,
) -> Tensor:
    steps = kernel_size if stride is None else stride
    size = _unpooled_size(input, 1, kernel_size, steps, padding, output_size)
    out = torch.ops.max_unpool2d(
        input.unsqueeze(-1), indices.unsqueeze(-1), [size[0], 1]
    )
    return out.squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: BroadcastingList2[int] | None = None,
    padding: BroadcastingList2[int] = (0, 0),
    output_size: list[int] | None = None,
) -> Tensor:
    steps = kernel_size if stride is None else stride
    size = _unpooled_size(input, 2, kernel_size, steps, padding, output_size)
    return torch.ops.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: BroadcastingList3[int] | None = None,
    padding: BroadcastingList3[int] = (0, 0, 0),
    output_size: list[int] | None = None,
) -> Tensor:
    steps = kernel_size if stride is None else stride
    size = _unpooled_size(input, 3, kernel_size, steps, padding, output_size)
    return torch.ops.max_unpool3d(input, indices, size, steps, padding)


def pad_sequence(
    sequences: list[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Compiles `nn.utils.rnn.pad_sequence`."""
    if padding_side != "left" and padding_side != "right":
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if len(sequences) == 0:
        raise RuntimeError("received an empty list of sequences")
    longest = 0
    for sequence in sequences:
        longest = max(longest, sequence.size(0))
    rows: list[Tensor] = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        if missing > 0:
            pads = [0, 0] * (sequence.dim() - 1)
            pads += [missing, 0] if padding_side == "left" else [0, missing]
            rows.append(torch.ops.pad(sequence, pads, "constant", padding_value))
        else:
            rows.append(sequence)
    return torch.stack(rows, 0 if batch_first else 1)


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


def _inverted(permutation: Tensor | None) -> Tensor | None:
    if permutation is None:
        return None
    steps = torch.arange(0, permutation.numel(), device=permutation.device)
    return torch.empty_like(permutation).scatter_(0, permutation, steps)


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor,
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Compiles `nn.utils.rnn.pack_padded_sequence`."""
    lengths = lengths.to(dtype=torch.int64)
    order: Tensor | None = None
    if not enforce_sorted:
        lengths, found = torch.sort(lengths, descending=True)
        found = found.to(input.device)
        input = input.index_select(0 if batch_first else 1, found)
        order = found
    data, batch_sizes = torch._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order, _inverted(order))


def pack_sequence(
    sequences: list[Tensor], enforce_sorted: bool = True
) -> PackedSequence:
    """Compiles `nn.utils.rnn.pack_sequence`."""
    lengths = torch.as_tensor([v.size(0) for v in sequences])
    padded = pad_sequence(sequences)
    return pack_padded_sequence(padded, lengths, enforce_sorted=enforce_sorted)
