"""Questions that the parts of the workflows ask each other."""

from __future__ import annotations

import warnings

import hotaru

from ...nn.utils.parametrize import is_parametrized
from .quant_type import QuantType


class MatchAllNode:
    """A node of a pattern that fits any node."""


_RANGES = {
    hotaru.qint8: (-128, 127),
    hotaru.int8: (-128, 127),
    hotaru.quint8: (0, 255),
    hotaru.uint8: (0, 255),
    hotaru.qint32: (-(2**31), 2**31 - 1),
    hotaru.int32: (-(2**31), 2**31 - 1),
    hotaru.int16: (-(2**15), 2**15 - 1),
    hotaru.uint16: (0, 2**16 - 1),
    hotaru.quint4x2: (0, 15),
}
_STATIC = (
    hotaru.quint8,
    hotaru.qint8,
    hotaru.qint32,
    hotaru.float16,
    hotaru.uint8,
    hotaru.int8,
    hotaru.int16,
    hotaru.int32,
    hotaru.float8_e5m2,
    hotaru.float8_e4m3fn,
)


def is_per_tensor(qscheme) -> bool:
    """True if all elements have one scale."""
    return qscheme in (hotaru.per_tensor_affine, hotaru.per_tensor_symmetric)


def is_per_channel(qscheme) -> bool:
    """True if each channel has a scale."""
    return qscheme in (
        hotaru.per_channel_affine,
        hotaru.per_channel_affine_float_qparams,
        hotaru.per_channel_symmetric,
    )


def getattr_from_fqn(obj, fqn: str):
    """The attribute of a dotted name."""
    for name in fqn.split("."):
        obj = getattr(obj, name)
    return obj


def to_underlying_dtype(qdtype):
    """The dtype that the integers of a quantised one have."""
    found = {
        hotaru.quint8: hotaru.uint8,
        hotaru.qint8: hotaru.int8,
        hotaru.qint32: hotaru.int32,
        hotaru.quint4x2: hotaru.uint8,
        hotaru.quint2x4: hotaru.uint8,
    }
    kept = (hotaru.uint8, hotaru.int8, hotaru.uint16, hotaru.int16, hotaru.int32)
    if qdtype in kept:
        return qdtype
    if qdtype not in found:
        raise AssertionError("Unsupported dtype: " + str(qdtype))
    return found[qdtype]


def get_combined_dict(default_dict: dict, additional_dict: dict) -> dict:
    """Both, the second over the first."""
    return {**default_dict, **additional_dict}


def get_qparam_dict(observer_or_fake_quant) -> dict:
    """Scheme, dtype, range, axis, scale and zero point that were observed."""
    qscheme = getattr(observer_or_fake_quant, "qscheme", None)
    dtype = observer_or_fake_quant.dtype
    found = {"qscheme": qscheme, "dtype": dtype}
    finds_any = getattr(observer_or_fake_quant, "_finds_qparams", True)
    if not qscheme or not finds_any:
        return {"qscheme": None, "dtype": dtype}
    if is_per_tensor(qscheme):
        qscheme = hotaru.per_tensor_affine
    elif is_per_channel(qscheme):
        if qscheme is hotaru.per_channel_symmetric:
            qscheme = hotaru.per_channel_affine
        found["axis"] = observer_or_fake_quant.ch_axis
    else:
        raise RuntimeError(f"Unrecognized qscheme: {qscheme}")
    found["qscheme"] = qscheme
    found["scale"], found["zero_point"] = observer_or_fake_quant.calculate_qparams()
    for end in ("quant_min", "quant_max"):
        if hasattr(observer_or_fake_quant, end):
            found[end] = getattr(observer_or_fake_quant, end)
    return found


def get_swapped_custom_module_class(
    custom_module, custom_module_class_mapping: dict, qconfig
):
    """The class that a custom module is swapped with, given its qconfig."""
    by_type = custom_module_class_mapping.get(get_quant_type(qconfig), {})
    if type(custom_module) not in by_type:
        raise AssertionError(
            "did not find corresponding observed module class for "
            f"{type(custom_module)} in mapping: {by_type}"
        )
    return by_type[type(custom_module)]


def activation_dtype(qconfig):
    """The dtype of activations."""
    return qconfig.activation().dtype


def weight_dtype(qconfig):
    """The dtype of weights."""
    return qconfig.weight().dtype


def activation_is_statically_quantized(qconfig) -> bool:
    """True if activations have scales that are fixed beforehand."""
    activation = qconfig.activation()
    return activation.dtype in _STATIC and not getattr(activation, "is_dynamic", False)


def activation_is_dynamically_quantized(qconfig) -> bool:
    """True if activations get their scales in each call."""
    return get_qconfig_dtypes(qconfig)[2]


def activation_is_int8_quantized(qconfig) -> bool:
    """True if activations are integers of 8 bits."""
    return activation_dtype(qconfig) in (
        hotaru.quint8,
        hotaru.qint8,
        hotaru.uint8,
        hotaru.int8,
    )


def weight_is_quantized(qconfig) -> bool:
    """True if weights are quantised."""
    return weight_dtype(qconfig) in _STATIC


def weight_is_statically_quantized(qconfig) -> bool:
    """True if weights have 8 bits with a scale."""
    return weight_dtype(qconfig) in (
        hotaru.quint8,
        hotaru.qint8,
        hotaru.uint8,
        hotaru.int8,
    )


def op_is_int8_dynamically_quantized(qconfig) -> bool:
    """True if both are of 8 bits, activations with scales of each call."""
    activation, weight, dynamic = get_qconfig_dtypes(qconfig)
    return (
        activation in (hotaru.quint8, hotaru.uint8)
        and weight in (hotaru.qint8, hotaru.int8)
        and dynamic
    )


def get_qconfig_dtypes(qconfig) -> tuple:
    """Dtypes of activations and weights, and whether the former is dynamic."""
    if qconfig is None:
        raise AssertionError("qconfig must be provided to extract dtypes")
    activation, weight = qconfig.activation(), qconfig.weight()
    dynamic = getattr(activation, "is_dynamic", False)
    return activation.dtype, weight.dtype, dynamic


def get_quant_type(qconfig) -> QuantType:
    """Which kind of quantisation a qconfig asks for."""
    if qconfig is None:
        raise AssertionError("qconfig must be provided to determine quant type")
    activation, weight = qconfig.activation(), qconfig.weight()
    dynamic = getattr(activation, "is_dynamic", False)
    if weight.dtype in _STATIC:
        if dynamic:
            return QuantType.DYNAMIC
        if activation.dtype in _STATIC:
            return QuantType.STATIC
        return QuantType.WEIGHT_ONLY
    if weight.dtype == hotaru.float16:
        if dynamic:
            return QuantType.DYNAMIC
        if activation.dtype == hotaru.float16:
            return QuantType.STATIC
    raise Exception(
        "Unrecognized dtype combination in get_quant_type: "
        f"activation({activation.dtype}),weight({weight.dtype})"
    )


def check_min_max_valid(min_val, max_val) -> bool:
    """True if something was observed. AssertionError for ends out of order."""
    if min_val.numel() == 0 or max_val.numel() == 0:
        warnings.warn(
            "must run observer before calling calculate_qparams. Returning "
            "default values.",
            stacklevel=2,
        )
        return False
    if min_val.dim() == 0 or max_val.dim() == 0:
        if min_val == float("inf") and max_val == float("-inf"):
            warnings.warn(
                "must run observer before calling calculate_qparams. Returning "
                "default values.",
                stacklevel=2,
            )
            return False
        ordered = bool(min_val <= max_val)
    else:
        ordered = bool((min_val <= max_val).all())
    if not ordered:
        raise AssertionError(f"min {min_val} should be less than max {max_val}")
    return True


def calculate_qmin_qmax(
    quant_min, quant_max, has_customized_qrange: bool, dtype, reduce_range: bool
) -> tuple[int, int]:
    """The integers that observers use of a dtype's.

    AssertionError for a range that the dtype does not have.
    """
    if not has_customized_qrange:
        low, high = _RANGES.get(dtype, (0, 15))
        if reduce_range and dtype in (hotaru.qint8, hotaru.int8):
            return -64, 63
        if reduce_range and dtype in (hotaru.quint8, hotaru.uint8):
            return 0, 127
        return low, high
    low, high = 0, 255
    if quant_min is not None and quant_max is not None:
        low, high = quant_min, quant_max
    length = high - low + 1
    if dtype in (hotaru.qint8, hotaru.int8) and not 0 < length <= 256:
        raise AssertionError(
            "quantization range should be positive and not exceed the maximum "
            "bit range (=256)."
        )
    if dtype in (hotaru.qint32, hotaru.int32) and not 0 < length <= 2**32:
        raise AssertionError(
            "quantization range should be positive and not exceed the maximum "
            "bit range (=4294967296)."
        )
    return (low // 2, high // 2) if reduce_range else (low, high)


def validate_qmin_qmax(quant_min: int, quant_max: int) -> None:
    """AssertionError for a range that is empty or does not include 0."""
    if not quant_min <= 0 <= quant_max:
        raise AssertionError("Used-specified quantization range must include 0.")
    if quant_min >= quant_max:
        raise AssertionError(
            "qmin must be strictly less than qmax for user-specified "
            "quantization range."
        )


def determine_qparams(
    min_val,
    max_val,
    quant_min: int,
    quant_max: int,
    dtype,
    eps,
    has_customized_qrange: bool,
    qscheme=hotaru.per_tensor_affine,
):
    """Scale and zero point of ranges min_val...max_val, one for each element.

    With the symmetric schemes zero stands in the middle; with
    `per_channel_affine_float_qparams` zero points are floats and the range
    need not include zero. A scale is at least `eps`.
    """
    if not check_min_max_valid(min_val, max_val):
        return hotaru.tensor([1.0]), hotaru.tensor([0])
    low = hotaru.clamp(min_val, max=0)
    high = hotaru.clamp(max_val, min=0)
    span = float(quant_max - quant_min)
    eps = eps.to(low.device)
    zero_point = hotaru.zeros(low.size(), dtype=hotaru.int64, device=low.device)
    if qscheme in (hotaru.per_tensor_symmetric, hotaru.per_channel_symmetric):
        scale = hotaru.max(hotaru.max(-low, high) / (span / 2), eps)
        if dtype in (hotaru.uint8, hotaru.quint8):
            middle = (quant_min + quant_max) // 2
            zero_point.fill_(middle if has_customized_qrange else 128)
        elif dtype is hotaru.uint16:
            zero_point.fill_(2**15)
    elif qscheme is hotaru.per_channel_affine_float_qparams:
        scale = (max_val - min_val) / span
        scale = hotaru.where(scale > eps, scale, hotaru.ones_like(scale))
        zero_point = -1 * min_val / scale
    else:
        scale = hotaru.max((high - low) / span, eps)
        zero_point = quant_min - hotaru.round(low / scale).to(hotaru.int)
        zero_point = hotaru.clamp(zero_point, quant_min, quant_max)
    if scale.dim() == 0:
        scale = scale.reshape(1)
    if zero_point.dim() == 0:
        zero_point = zero_point.reshape(1)
    return scale.to(hotaru.float32), zero_point


def has_no_children_ignoring_parametrizations(module) -> bool:
    """True if a module has no modules but its parametrizations."""
    if len(module._modules) == 0:
        return True
    if is_parametrized(module):
        return len(module._modules) == 1 and "parametrizations" in (module._modules)
    return False


def _assert_and_get_unique_device(module):
    """The device of all parameters and buffers; None without any.

    AssertionError for several.
    """
    tensors = (*module.parameters(), *module.buffers())
    devices = {t.device for t in tensors}
    if len(devices) > 1:
        raise AssertionError(
            "prepare only works with cpu or single-device CUDA modules, but "
            f"got devices {devices}"
        )
    return next(iter(devices), None)
