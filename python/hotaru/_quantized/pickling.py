"""Pickles of quantised tensors, in PyTorch's format."""

from __future__ import annotations

from collections import OrderedDict

from .. import _utils
from ..storage._typed import TypedStorage
from .dtypes import (
    STORAGE_NAMES,
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_tensor_affine,
)
from .tensor import QuantizedTensor, build, scales_of, whole_number


def check_stored(known: bool, dtype) -> None:
    """RuntimeError unless quantised tensors may have such elements."""
    if not known:
        raise RuntimeError(f"a quantised tensor cannot have elements of {dtype}")


def rebuild(storage, offset, size, stride, quantizer, requires_grad, hooks):
    """Rebuilds what `reduce` took apart, of this process or of a file.

    RuntimeError: parts that do not fit each other: what is read may be
    anything.
    """
    dtype = storage._dtype
    check_stored(dtype in STORAGE_NAMES, dtype)
    integers = _utils._rebuild_tensor(
        storage._untyped_storage, offset, size, stride, dtype.storage
    )
    scheme, *parts = quantizer
    if scheme is per_tensor_affine:
        scale, zero_point = parts
        return build(integers, dtype, float(scale), int(zero_point), None)
    if scheme not in (per_channel_affine, per_channel_affine_float_qparams):
        raise RuntimeError(f"Can't deserialize quantized tensor with {scheme}")
    scales, zero_points, axis = parts
    axis = whole_number(axis)
    if (
        not 0 <= axis < integers.dim()
        or scales.shape != (integers.size(axis),)
        or zero_points.shape != scales.shape
    ):
        raise RuntimeError(
            f"scales of {tuple(scales.shape)} and zero points of "
            f"{tuple(zero_points.shape)} are not those of a tensor of "
            f"{tuple(integers.shape)} along {axis}"
        )
    kept = scales_of(integers, scales, zero_points)
    return build(integers, dtype, *kept, axis)


def reduce(tensor: QuantizedTensor):
    """PyTorch's function and parts.

    NotImplementedError for dtypes of less than a byte, which files have in
    another form.
    """
    dtype, integers = tensor._dtype, tensor._integers
    if dtype not in STORAGE_NAMES:
        raise NotImplementedError(
            f"tensors of {dtype} cannot be saved: files have several elements "
            "in a byte. Save int_repr() and the scales"
        )
    quantizer = [tensor.qscheme(), tensor._scale, tensor._zero_point]
    if tensor._axis is not None:
        quantizer.append(tensor._axis)
    storage = TypedStorage(
        wrap_storage=integers.untyped_storage(), dtype=dtype, _internal=True
    )
    return _utils._rebuild_qtensor, (
        storage,
        integers.storage_offset(),
        tuple(integers.shape),
        tuple(integers.stride()),
        tuple(quantizer),
        False,
        OrderedDict(),
    )
