"""Making quantised tensors, and their numbers again."""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from .._extension.dtypes import scalar_type
from .._overrides import overridable
from . import operators  # noqa: F401  (they answer from now on)
from .choose import choose_qparams, range_of
from .dtypes import (
    QuantizedDtype,
    is_quantized_dtype,
    qint8,
    quint2x4,
    quint4x2,
    quint8,
)
from .kind import not_quantized
from .rounding import over_axis, quantize
from .tensor import QuantizedTensor, build, is_quantized, scales_of, whole_number

__all__ = [
    "_empty_affine_quantized",
    "_empty_per_channel_affine_quantized",
    "_make_per_channel_quantized_tensor",
    "_make_per_tensor_quantized_tensor",
    "dequantize",
    "int_repr",
    "q_per_channel_axis",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_scale",
    "q_zero_point",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_tensor_dynamic",
]


def _check_input(x: Tensor, dtype) -> None:
    if is_quantized(x):
        raise NotImplementedError(
            "Could not run 'aten::quantize_per_tensor' with arguments from the "
            "'QuantizedCPU' backend. Call dequantize() first."
        )
    if x.dtype not in (_C.float32, _C.float16, _C.bfloat16):
        raise RuntimeError(
            f"Quantize only works on Float Tensor, got {scalar_type(x.dtype)}"
        )
    if not is_quantized_dtype(dtype):
        raise RuntimeError(
            f"ScalarType {scalar_type(dtype)} is not supported in new_qtensor."
        )


def quantize_per_tensor(input, scale, zero_point, dtype: QuantizedDtype):
    """Integers round(x / scale + zero_point) of a quantised dtype.

    Scale and zero point are numbers or tensors of one; a list of tensors has
    a tensor of each.

    Raises:
        RuntimeError: not a float tensor, not a quantised dtype, a zero point
            that the dtype cannot hold.
    """
    if isinstance(input, (list, tuple)):
        return [
            quantize_per_tensor(x, s, z, dtype)
            for x, s, z in zip(input, scale.tolist(), zero_point.tolist())
        ]
    _check_input(input, dtype)
    if dtype in (quint4x2, quint2x4):
        raise RuntimeError(
            f"quantize_per_tensor: not for {dtype}; quantize_per_channel makes "
            "tensors of it"
        )
    scale = float(scale.item() if isinstance(scale, Tensor) else scale)
    zero_point = whole_number(zero_point)
    for holds, side in (
        (zero_point <= dtype.high, "above upper"),
        (zero_point >= dtype.low, "below lower"),
    ):
        if not holds:
            raise RuntimeError(
                f"quantize_tensor_per_tensor_affine zero_point {zero_point} is "
                f"{side} bound."
            )
    integers = quantize(input.detach(), scale, zero_point, dtype)
    return build(integers, dtype, scale, zero_point, None)


def quantize_per_tensor_dynamic(
    input: Tensor, dtype: QuantizedDtype, reduce_range: bool
) -> QuantizedTensor:
    """Quantised with the scale that the elements ask for."""
    if dtype not in (qint8, quint8):
        raise RuntimeError(f"dtype {dtype}not supported in quantize_per_tensor_dynamic")
    scale, zero_point = choose_qparams(
        *range_of(input), dtype.low, dtype.high, reduce_range
    )
    return quantize_per_tensor(input, scale, zero_point, dtype)


def quantize_per_channel(
    input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, dtype: QuantizedDtype
) -> QuantizedTensor:
    """Quantised with a scale and a zero point for each index of `axis`.

    Float zero points make a tensor of `per_channel_affine_float_qparams`.

    Raises:
        RuntimeError: another number of scales than channels, and as
            `quantize_per_tensor`.
    """
    _check_input(input, dtype)
    _check_channels(input, scales, zero_points, axis)
    kept = scales_of(input, scales, zero_points)
    integers = quantize(
        input.detach(), *(over_axis(x, axis, input.dim()) for x in kept), dtype
    )
    return build(integers, dtype, *kept, axis % input.dim())


def _check_channels(x, scales, zero_points, axis: int) -> None:
    if not -x.dim() <= axis < x.dim():
        raise RuntimeError("Channel axis out of range in per channel affine")
    if not scales.numel() == zero_points.numel() == x.size(axis):
        raise RuntimeError(
            "length of scales must equal to channel, expected "
            f"{x.size(axis)} got, {scales.numel()}"
        )


_STORED = {"uint8": quint8, "int8": qint8}


def _of_integers(integers: Tensor) -> QuantizedDtype:
    name = str(integers.dtype)[6:]
    if name not in ("uint8", "int8", "int32"):
        raise RuntimeError(
            f"a quantised tensor has integers of uint8, int8 or int32, not {name}"
        )
    return _STORED.get(name, hotaru.qint32)


def _make_per_tensor_quantized_tensor(
    input: Tensor, scale: float, zero_point: int
) -> QuantizedTensor:
    """The quantised tensor of these integers."""
    dtype = _of_integers(input)
    return build(input.clone(), dtype, float(scale), int(zero_point), None)


def _make_per_channel_quantized_tensor(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int
) -> QuantizedTensor:
    """The same with scales and zero points of channels."""
    _check_channels(input, scale, zero_point, axis)
    kept = scales_of(input, scale, zero_point)
    return build(input.clone(), _of_integers(input), *kept, axis % input.dim())


def _empty_affine_quantized(
    size, *, dtype=None, scale=1.0, zero_point=0, device=None, **others
) -> QuantizedTensor:
    """A quantised tensor whose integers are not set."""
    if not is_quantized_dtype(dtype):
        raise RuntimeError(
            "Creation of quantized tensor requires quantized dtype like torch.quint8"
        )
    integers = hotaru.empty(size, dtype=dtype.storage, device=device)
    return build(integers, dtype, float(scale), int(zero_point), None)


def _empty_per_channel_affine_quantized(
    size, *, scales, zero_points, axis, dtype=None, device=None, **others
) -> QuantizedTensor:
    """The same with scales and zero points of channels."""
    integers = hotaru.empty(size, dtype=dtype.storage, device=device)
    _check_channels(integers, scales, zero_points, axis)
    kept = scales_of(integers, scales, zero_points)
    return build(integers, dtype, *kept, axis % integers.dim())


def dequantize(tensor):
    """The numbers of a quantised tensor, or of each of a list, as float32."""
    if isinstance(tensor, (list, tuple)):
        return [dequantize(x) for x in tensor]
    if is_quantized(tensor):
        return tensor.dequantize()
    return tensor.to(_C.float32)


def _query(name: str):
    def function(self: Tensor):
        if is_quantized(self):
            return getattr(QuantizedTensor, name)(self)
        raise not_quantized(name, self)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`Tensor.{name}` of a quantised tensor."
    return function


def qscheme(self: Tensor):
    """NotImplementedError: the tensor is not quantised."""
    raise not_quantized("qscheme", self)


int_repr = _query("int_repr")
q_scale = _query("q_scale")
q_zero_point = _query("q_zero_point")
q_per_channel_axis = _query("q_per_channel_axis")
q_per_channel_scales = _query("q_per_channel_scales")
q_per_channel_zero_points = _query("q_per_channel_zero_points")

overridable(globals(), __all__, __package__.rpartition(".")[0])
