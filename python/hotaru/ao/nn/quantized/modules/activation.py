"""Activations of quantised tensors."""

from __future__ import annotations

import hotaru

from ..... import nn
from .utils import output_qparams

F = nn.functional


def _quantized(numbers, x, scale, zero_point):
    return hotaru.quantize_per_tensor(numbers, scale, zero_point, x.dtype)


class ReLU6(nn.ReLU):
    """min(max(x, 0), 6), with the scale of the input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.inplace = inplace

    def forward(self, input):
        return F.relu6(input, self.inplace)

    def _get_name(self) -> str:
        return "QuantizedReLU6"

    @staticmethod
    def from_float(mod, use_precomputed_fake_quant=False):
        """Makes one of a float module."""
        return ReLU6(mod.inplace)


class _Scaled(nn.Module):
    """An activation whose output has a scale that was observed."""

    def _scale_to(self, scale, zero_point, **options) -> None:
        self.register_buffer("scale", hotaru.tensor(scale, **options))
        self.register_buffer("zero_point", hotaru.tensor(zero_point))


class Hardswish(nn.Hardswish):
    """x · relu6(x + 3) / 6, with the scale of the output."""

    def __init__(self, scale, zero_point, device=None, dtype=None) -> None:
        super().__init__()
        _Scaled._scale_to(self, scale, zero_point, device=device, dtype=dtype)

    def forward(self, input):
        return _quantized(
            F.hardswish(input.dequantize()), input, self.scale, self.zero_point
        )

    def _get_name(self) -> str:
        return "QuantizedHardswish"

    @staticmethod
    def from_float(mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        return Hardswish(*output_qparams(mod))


class ELU(nn.ELU):
    """x, or alpha · (eˣ - 1) below 0, with the scale of the output."""

    def __init__(self, scale, zero_point, alpha=1.0) -> None:
        super().__init__(alpha)
        self.scale = scale
        self.zero_point = zero_point

    def forward(self, input):
        numbers = F.elu(input.dequantize(), self.alpha)
        return _quantized(numbers, input, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedELU"

    @staticmethod
    def from_float(mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        return ELU(*output_qparams(mod), mod.alpha)


class LeakyReLU(nn.LeakyReLU):
    """x, or a multiple of it below 0, with the scale of the output."""

    def __init__(
        self,
        scale: float,
        zero_point: int,
        negative_slope: float = 1e-2,
        inplace: bool = False,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(negative_slope, inplace)
        _Scaled._scale_to(self, scale, zero_point, device=device, dtype=dtype)

    def forward(self, input):
        numbers = F.leaky_relu(input.dequantize(), self.negative_slope)
        return _quantized(numbers, input, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedLeakyReLU"

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        return cls(*output_qparams(mod), mod.negative_slope, mod.inplace)


class Sigmoid(nn.Sigmoid):
    """1 / (1 + e⁻ˣ), with the scale of the output."""

    def __init__(self, output_scale: float, output_zero_point: int) -> None:
        super().__init__()
        self.output_scale = output_scale
        self.output_zero_point = output_zero_point

    def forward(self, input):
        return _quantized(
            hotaru.sigmoid(input.dequantize()),
            input,
            self.output_scale,
            self.output_zero_point,
        )

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        return cls(*output_qparams(mod))


class Softmax(nn.Softmax):
    """eˣ over its sum along `dim`, with the scale of the output."""

    def __init__(self, dim=None, scale=1.0, zero_point=0) -> None:
        super().__init__(dim)
        self.scale = scale
        self.zero_point = zero_point

    def forward(self, input):
        dim = -1 if self.dim is None else self.dim
        numbers = F.softmax(input.dequantize(), dim)
        return _quantized(numbers, input, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedSoftmax"

    @staticmethod
    def from_float(mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        return Softmax(mod.dim, *output_qparams(mod))


class PReLU(nn.Module):
    """x, or a learned multiple of it below 0, with the scale of the output."""

    def __init__(
        self, output_scale: float, output_zero_point: int, num_parameters=1
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.scale = output_scale
        self.zero_point = output_zero_point
        self.set_weight(
            hotaru.quantize_per_tensor(
                hotaru.randn(num_parameters), 1.0, 0, hotaru.quint8
            )
        )

    def set_weight(self, w) -> None:
        """Takes other slopes, quantised."""
        self.weight = w

    def forward(self, input):
        numbers = F.prelu(input.dequantize(), self.weight.dequantize())
        return _quantized(numbers, input, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedPReLU"

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float module that was observed."""
        made = cls(*output_qparams(mod), mod.num_parameters)
        slopes = mod.weight.float()
        observer = mod.qconfig.weight()
        observer(slopes)
        scale, zero_point = observer.calculate_qparams()
        made.set_weight(
            hotaru.quantize_per_tensor(
                slopes, float(scale), int(zero_point), hotaru.quint8
            )
        )
        return made
