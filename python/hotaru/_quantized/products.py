"""Products of integers: linear maps and convolutions of quantised tensors.

Linear maps of floats by integers (`linear_dynamic`) run on kernels of 8-bit
integers. Sums of the others are of whole numbers in float32, which holds them
exactly up to 2^24 (a thousand products of 7 by 8 bits at their largest) and
rounds beyond, far below the step of any output's scale.
"""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from .._extension.dtypes import scalar_type
from ..nn import functional as F
from .choose import choose_qparams, range_of
from .dtypes import quint4x2
from .rounding import quantize, to_integers
from .tensor import QuantizedTensor, build


def levels(x: QuantizedTensor) -> Tensor:
    """Integers - zero_point, as float32."""
    found = x._integers.to(_C.float32)
    if x._axis is None:
        return found - x._zero_point if x._zero_point else found
    shape = [1] * x.dim()
    shape[x._axis] = -1
    return found - x._zero_point.to(_C.float32).reshape(shape)


def steps(weight: QuantizedTensor, dim: int) -> Tensor | float:
    """The scale of each output channel, to broadcast along the last dimension
    (`dim` 0) or in front of `dim` others.
    """
    if weight._axis is None:
        return weight._scale
    return weight._scale.to(_C.float32).reshape([-1] + [1] * dim)


def _finished(sums, step, bias, scale, zero_point, dtype, rectified):
    numbers = sums * step
    if bias is not None:
        numbers = numbers + bias
    integers = quantize(numbers, scale, zero_point, dtype)
    if rectified:
        integers = integers.clamp(min=zero_point)
    return build(integers, dtype, scale, zero_point, None)


def linear(
    x: QuantizedTensor,
    weight: QuantizedTensor,
    bias: Tensor | None,
    scale: float,
    zero_point: int,
    rectified: bool = False,
) -> QuantizedTensor:
    """X Wᵀ + b with a scale of its own."""
    sums = F.linear(levels(x), levels(weight))
    step = steps(weight, 0) * x._scale
    return _finished(sums, step, bias, scale, zero_point, x._dtype, rectified)


def convolution(
    x: QuantizedTensor,
    weight: QuantizedTensor,
    bias: Tensor | None,
    run,
    scale: float,
    zero_point: int,
    rectified: bool = False,
) -> QuantizedTensor:
    """run(x, weight), a convolution of floats, with a scale of its own."""
    axes = weight.dim() - 2
    sums = run(levels(x), levels(weight))
    step = steps(weight, axes) * x._scale
    if bias is not None:
        bias = bias.detach().reshape([-1] + [1] * axes)
    return _finished(sums, step, bias, scale, zero_point, x._dtype, rectified)


def dynamic_levels(x: Tensor) -> tuple[Tensor, float]:
    """A tensor in 7 bits of its own scale: integers - zero_point; the scale.

    7, as in PyTorch, where sums of two products are to fit into 16 bits.
    """
    if x.dtype is not _C.float32:
        raise RuntimeError(
            f"expected scalar type Float but found {scalar_type(x.dtype)}"
        )
    low, high = range_of(x)
    scale, zero_point = choose_qparams(low, high, 0, 255, reduce_range=True)
    found = to_integers(x.detach(), scale, zero_point, 0, 255)
    return found - zero_point if zero_point else found, scale


def kept_wide(weight):
    """A weight as several products take it: float16 as float32."""
    return weight if isinstance(weight, QuantizedTensor) else weight.float()


def _in_integers(x: Tensor, weight: QuantizedTensor, bias) -> Tensor:
    """linear_dynamic by products of 8-bit integers, which graphs capture."""
    scale, zero = weight._scale, weight._zero_point
    if weight._axis is None:
        scale = _C.ops.full([1], scale, dtype=_C.float32)
        zero = _C.ops.full([1], zero, dtype=_C.int8) if zero else None
    else:
        scale, zero = scale.to(_C.float32), zero.to(_C.int8)
    run = _C._operator("hotaru::linear_dynamic")
    return run(x, weight._integers, scale, zero, bias)


def linear_dynamic(x: Tensor, weight, bias: Tensor | None) -> Tensor:
    """A linear map of floats, x Wᵀ + b; the weight is of integers or floats."""
    if not isinstance(weight, QuantizedTensor):
        return F.linear(x, kept_wide(weight), bias)
    if weight._integers.dtype is _C.int8 and x.device.type == "cpu":
        return _in_integers(x.detach(), weight, bias)
    integers, scale = dynamic_levels(x)
    made = F.linear(integers, levels(weight)) * (steps(weight, 0) * scale)
    return made if bias is None else made + bias


def rows(table: QuantizedTensor, indices: Tensor) -> Tensor:
    """Rows of a table as float32, each with its own scale."""
    found = table._integers[indices]
    scale, zero_point = table._scale, table._zero_point
    if table._axis is None:
        return (found.to(_C.float32) - zero_point) * scale
    scale = scale[indices].to(_C.float32).unsqueeze(-1)
    bias = -zero_point[indices].to(_C.float32).unsqueeze(-1) * scale
    if table._dtype is quint4x2:  # packed rows end with them in 16 bits
        scale, bias = (v.to(_C.float16).to(_C.float32) for v in (scale, bias))
    if found.device.type != "cpu":
        return found.to(_C.float32) * scale + bias
    # As PyTorch's kernel: one rounding of integer * scale + bias.
    tail = hotaru.cat([scale, bias], -1).view(_C.uint8)
    table = hotaru.cat([found, tail], -1)
    run = _C._operator("hotaru::embedding_narrow")
    each = hotaru.arange(indices.numel()).reshape(indices.shape)
    return run(table.reshape(-1, 1, table.size(-1)), each, 8)


def saturated_half(weight: Tensor) -> Tensor:
    """A weight in float16, its largest numbers cut to what that holds."""
    most = hotaru.finfo(_C.float16).max
    return weight.detach().clamp(-most, most).to(_C.float16)
