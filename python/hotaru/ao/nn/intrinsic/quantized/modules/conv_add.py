"""Convolutions of quantised tensors that are added to another one."""

from __future__ import annotations

import hotaru

from ......_quantized import products
from ....quantized.modules import conv as _conv
from ...modules import fused as nni


class ConvAdd2d(_conv.Conv2d):
    """A convolution of pictures plus another picture."""

    _FLOAT_MODULE = nni.ConvAdd2d

    def forward(self, input, extra_input):
        if input.dim() != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        weight, bias = self._weight_bias()
        sums = self._run(products.levels(input), products.levels(weight))
        numbers = sums * (products.steps(weight, 2) * input.q_scale())
        if bias is not None:
            numbers = numbers + bias.reshape(-1, 1, 1)
        numbers = numbers + extra_input.dequantize()
        if self._rectified:
            numbers = numbers.relu()
        return hotaru.quantize_per_tensor(
            numbers, self.scale, self.zero_point, input.dtype
        )


class ConvAddReLU2d(ConvAdd2d):
    """The same, rectified."""

    _FLOAT_MODULE = nni.ConvAddReLU2d
    _rectified = True
