"""Modules that compiled code has in the place of dynamically quantised ones.

They hold integers and scales as plain tensors.
"""

from __future__ import annotations

import hotaru

from ...... import nn


class Linear(nn.Module):
    """y = x Aᵀ + b of floats by integers, with a rectifier or without one."""

    def __init__(self, weight, bias, rectified: bool) -> None:
        super().__init__()
        scale, zero = weight._scale, weight._zero_point
        if weight._axis is None:
            scale = hotaru.full([1], scale)
            zero = hotaru.full([1], zero, dtype=hotaru.int8) if zero else None
        else:
            scale, zero = scale.float(), zero.to(hotaru.int8)
        self.register_buffer("weight", weight._integers)
        self.register_buffer("scale", scale)
        self.register_buffer("zero_point", zero)
        self.register_buffer("bias", bias)
        self.rectified = rectified

    def forward(self, x):
        made = hotaru.ops.hotaru.linear_dynamic(
            x.detach(), self.weight, self.scale, self.zero_point, self.bias
        )
        return made.relu() if self.rectified else made


class HalfLinear(nn.Module):
    """The same by a weight of float16, whose numbers it holds as float32."""

    def __init__(self, weight, bias, rectified: bool) -> None:
        super().__init__()
        self.register_buffer("weight", weight.float())
        self.register_buffer("bias", bias)
        self.rectified = rectified

    def forward(self, x):
        made = nn.functional.linear(x, self.weight, self.bias)
        return made.relu() if self.rectified else made
