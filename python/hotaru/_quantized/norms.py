"""Norms of quantised tensors by running statistics."""

from __future__ import annotations

import hotaru

from .tensor import QuantizedTensor, build


def normed(
    x: QuantizedTensor,
    weight,
    bias,
    mean,
    var,
    eps: float,
    scale: float,
    zero_point: int,
    rectified: bool,
) -> QuantizedTensor:
    """A batch norm with a scale of its own: one product and one sum for each
    integer, rounded once, as PyTorch's kernel has it.
    """
    one = hotaru.ones_like(var)
    weight = one if weight is None else weight.detach()
    bias = hotaru.zeros_like(var) if bias is None else bias.detach()
    slope = (1.0 / (var + eps).sqrt()) * weight
    alpha = slope * (x._scale / scale)
    beta = (bias - mean * slope) / scale
    shape = [1, -1] + [1] * (x.dim() - 2)
    levels = x._integers.double() - x._zero_point
    sums = levels * alpha.double().reshape(shape)
    sums = (sums + beta.double().reshape(shape)).float()
    integers = sums.round() + zero_point
    dtype = x._dtype
    least = max(dtype.low, zero_point) if rectified else dtype.low
    integers = integers.clamp(least, dtype.high).to(dtype.storage)
    return build(integers, dtype, scale, zero_point, None)
