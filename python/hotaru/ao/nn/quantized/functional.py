"""Functions of quantised tensors."""

from __future__ import annotations

import hotaru

from ...._quantized import products
from ....nn import functional as F

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool2d",
    "avg_pool3d",
    "celu",
    "clamp",
    "conv1d",
    "conv2d",
    "conv3d",
    "elu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "interpolate",
    "leaky_relu",
    "linear",
    "max_pool1d",
    "max_pool2d",
    "threshold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


def _quantized_alone(name: str):
    """The function of floats, which answers quantised tensors, for them."""
    float_function = getattr(F, name)

    def function(input, *args, **kwargs):
        if not input.is_quantized:
            raise ValueError(f"Input to 'quantized.{name}' must be quantized!")
        return float_function(input, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`torch.nn.functional.{name}` of a quantised tensor."
    return function


adaptive_avg_pool2d = _quantized_alone("adaptive_avg_pool2d")
adaptive_avg_pool3d = _quantized_alone("adaptive_avg_pool3d")
avg_pool2d = _quantized_alone("avg_pool2d")
avg_pool3d = _quantized_alone("avg_pool3d")
hardsigmoid = _quantized_alone("hardsigmoid")
hardtanh = _quantized_alone("hardtanh")
interpolate = _quantized_alone("interpolate")
max_pool1d = _quantized_alone("max_pool1d")
max_pool2d = _quantized_alone("max_pool2d")
threshold = _quantized_alone("threshold")
upsample = _quantized_alone("upsample")
upsample_bilinear = _quantized_alone("upsample_bilinear")
upsample_nearest = _quantized_alone("upsample_nearest")


def clamp(input, min_: float, max_: float):
    """A quantised tensor within the numbers min_...max_."""
    if not input.is_quantized:
        raise ValueError("Input to 'quantized.clamp' must be quantized!")
    return hotaru.clamp(input, min_, max_)


def _made(numbers, input, scale: float, zero_point: int):
    if not input.is_quantized:
        raise ValueError("the input must be quantized!")
    return hotaru.quantize_per_tensor(numbers, scale, zero_point, input.dtype)


def celu(input, scale: float, zero_point: int, alpha: float = 1.0):
    """CELU, with the scale of the output."""
    return _made(F.celu(input.dequantize(), alpha), input, scale, zero_point)


def elu(input, scale: float, zero_point: int, alpha: float = 1.0):
    """ELU, with the scale of the output."""
    return _made(F.elu(input.dequantize(), alpha), input, scale, zero_point)


def hardswish(input, scale: float, zero_point: int):
    """X · relu6(x + 3) / 6, with the scale of the output."""
    return _made(F.hardswish(input.dequantize()), input, scale, zero_point)


def leaky_relu(
    input,
    negative_slope: float = 0.01,
    inplace: bool = False,
    scale=None,
    zero_point=None,
):
    """A leaky rectifier, with a scale of the output or that of the input."""
    if scale is None or zero_point is None:
        return F.leaky_relu(input, negative_slope)
    numbers = F.leaky_relu(input.dequantize(), negative_slope)
    return _made(numbers, input, scale, zero_point)


def linear(input, weight, bias=None, scale=None, zero_point=None):
    """X Aᵀ + b, with the scale of the output, by default the input's."""
    scale = input.q_scale() if scale is None else scale
    zero_point = input.q_zero_point() if zero_point is None else zero_point
    return products.linear(input, weight, bias, scale, zero_point)


def _convolution(axes: int):
    def function(
        input,
        weight,
        bias,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        padding_mode="zeros",
        scale=1.0,
        zero_point=0,
        dtype=hotaru.quint8,
    ):
        if padding_mode != "zeros":
            raise NotImplementedError("Only zero-padding is supported!")
        if input.dtype is not hotaru.quint8 or weight.dtype is not hotaru.qint8:
            raise NotImplementedError(
                "Only torch.quint8 is supported for activation tensor and "
                "torch.qint8 for weight tensor!"
            )
        if input.dim() != axes + 2:
            raise ValueError(f"Input must be of {axes + 2} dimensions!")
        run = getattr(F, f"conv{axes}d")
        return products.convolution(
            input,
            weight,
            bias,
            lambda x, w: run(x, w, None, stride, padding, dilation, groups),
            scale,
            zero_point,
        )

    function.__name__ = function.__qualname__ = f"conv{axes}d"
    function.__doc__ = "A convolution, with the scale of the output."
    return function


conv1d, conv2d, conv3d = (_convolution(n) for n in (1, 2, 3))
