"""Operators of quantised tensors.

Operators that only move elements move the integers; monotonous ones and
averages are done on the integers, too; few others quantise anew.
"""

from __future__ import annotations

from typing import Callable

from .. import _C
from .._answering.names import words
from .._answering.table import answers
from .._C import Tensor
from .._tensor.refusals import check_iterable, no_imaginary_part
from ..utils import _pytree
from .dtypes import no_sign, qint8
from .kind import HANDLERS, need_one_scale, refused
from .rounding import over_axis, quantize
from .tensor import QuantizedTensor, build, is_quantized, like

# Scale and zero point of quint8; zero points of qint8 are 128 less.
_FIXED = {"sigmoid": (1 / 256, 0), "hardsigmoid": (1 / 256, 0), "tanh": (2 / 256, 128)}


def _answers(names: str, first: bool = False) -> Callable:
    """Makes a function the one that answers these operators: it is given the
    function that was called first. The `first` argument has to be quantised.
    """

    def register(function: Callable) -> Callable:
        def checked(called, x, *args, **kwargs):
            if not is_quantized(x):
                raise refused(called.__name__)
            return function(called, x, *args, **kwargs)

        handler = checked if first else function
        answers(*words(names), of=HANDLERS, asked=True)(handler)
        return function

    return register


def _numbers(tree):
    """Arguments with the numbers of quantised tensors in their places."""
    return _pytree.tree_map(lambda y: y.dequantize() if is_quantized(y) else y, tree)


def requantized(numbers: Tensor, x: QuantizedTensor) -> QuantizedTensor:
    """Numbers with the scale and dtype of x, which has one for all."""
    return like(x, quantize(numbers, x._scale, x._zero_point, x._dtype))


def _check_strides(x: QuantizedTensor) -> None:
    if x._axis is not None:
        raise RuntimeError(
            "Setting strides is possible only on uniformly quantized tensor"
        )


@_answers("eq ne lt gt le ge equal allclose isclose")
def _compared(function, *args, **kwargs):
    return function(*_numbers(args), **_numbers(kwargs))


@_answers("T mT H mH")
def _turned(accessor, x):
    _check_strides(x)
    return like(x, accessor(x._integers))


@_answers("data")
def _data(accessor, x):
    return like(x, x._integers)


@_answers("clone detach contiguous cpu pin_memory", first=True)
def _kept(function, x, *rest, **kwargs):
    made = function(x._integers, *rest, **kwargs)
    return x if made is x._integers else like(x, made)


@_answers(
    "resolve_conj resolve_neg conj conj_physical positive real to_dense", first=True
)
def _itself(function, x, *rest, **kwargs):
    return x


@_answers("data_ptr is_shared untyped_storage _version", first=True)
def _of_memory(function, x, *rest, **kwargs):
    return function(x._integers, *rest, **kwargs)


@_answers(
    "alias view reshape flatten unflatten permute movedim repeat flip roll "
    "view_as ravel channel_shuffle pixel_shuffle tile diag diagonal dsplit "
    "expand_as fliplr flipud hsplit msort repeat_interleave reshape_as rot90 "
    "vsplit",
    first=True,
)
def _moved(function, x, *rest, **kwargs):
    need_one_scale(function, x)
    rest = [y._integers if is_quantized(y) else y for y in rest]
    made = function(x._integers, *rest, **kwargs)
    return _pytree.tree_map(lambda y: like(x, y), made)


@_answers("t transpose swapaxes swapdims", first=True)
def _transposed(function, x, *rest, **kwargs):
    _check_strides(x)
    return like(x, function(x._integers, *rest, **kwargs))


@_answers(
    "__getitem__ chunk expand index_select narrow select split "
    "split_with_sizes squeeze tensor_split unbind unsafe_chunk unsafe_split "
    "unsqueeze",
    first=True,
)
def _part(function, x, *rest, **kwargs):
    made = function(x._integers, *rest, **kwargs)
    if x._axis is None:
        return _pytree.tree_map(lambda y: like(x, y), made)
    count = x._integers.shape[x._axis]
    channels = over_axis(_C.ops.arange(count), x._axis, x.dim())
    channels = function(channels.expand(x.shape), *rest, **kwargs)
    return _pytree.tree_map(
        lambda y, own: _of_channels(function, x, y, own), made, channels
    )


def _of_channels(function, x, integers, channels) -> QuantizedTensor:
    """Integers of x, of which each is of the channel that is said."""
    for axis in range(channels.dim()):
        count = channels.shape[axis]
        rows = channels.movedim(axis, 0)
        rows = rows.reshape(count, rows.numel() // max(count, 1))
        own = rows[:, 0] if rows.numel() else rows.flatten()
        if not (rows == own.unsqueeze(1)).all():
            continue
        scale, zero_point = x._scale[own], x._zero_point[own]
        if len(own) and (own == own[0]).all() and not _has_floats(x):
            scale, zero_point = scale[0].item(), zero_point[0].item()
            return build(integers, x._dtype, scale, zero_point, None)
        return build(integers, x._dtype, scale, zero_point, axis)
    need_one_scale(function, x)


def _has_floats(x) -> bool:
    """True if zero points are floats, which one of a tensor is not."""
    return x._zero_point.is_floating_point()


@_answers(
    "max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d "
    "amax amin quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d",
    first=True,
)
def _ordered(function, x, *rest, **kwargs):
    need_one_scale(function, x)
    made = function(x._integers.to(_C.float32), *rest, **kwargs)
    return like(x, made.to(x._integers.dtype))


@_answers(
    "mean avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d interpolate "
    "adaptive_avg_pool2d adaptive_avg_pool3d upsample upsample_nearest "
    "upsample_bilinear upsample_nearest1d upsample_nearest2d "
    "upsample_nearest3d upsample_bilinear2d",
    first=True,
)
def _averages(function, x, *rest, **kwargs):
    need_one_scale(function, x)
    centred = x._integers.to(_C.float32) - x._zero_point
    made = function(centred, *rest, **kwargs).round() + x._zero_point
    made = made.clamp(x._dtype.low, x._dtype.high)
    return like(x, made.to(x._integers.dtype))


@_answers("leaky_relu prelu hardswish elu celu threshold masked_fill", first=True)
def _same_scale(function, x, *rest, **kwargs):
    need_one_scale(function, x)
    return requantized(function(x.dequantize(), *_numbers(rest), **kwargs), x)


@_answers("sigmoid hardsigmoid tanh", first=True)
def _fixed(function, x, *rest, **kwargs):
    need_one_scale(function, x)
    scale, zero_point = _FIXED[function.__name__]
    zero_point -= 128 if x._dtype is qint8 else 0
    made = function(x.dequantize(), *rest, **kwargs)
    integers = quantize(made, scale, zero_point, x._dtype)
    return build(integers, x._dtype, scale, zero_point, None)


@_answers("relu relu_")
def _relu(function, x, inplace=False):
    need_one_scale(function, x)
    made = x._integers.clamp(min=x._zero_point)
    return _result(function, x, made, inplace)


def _result(function, x, integers, inplace=False):
    if inplace or function.__name__.endswith("_"):
        x._integers.copy_(integers)
        return x
    return like(x, integers)


@_answers("clamp clamp_ clip")
def _clamp(function, x, min=None, max=None):
    ends = [None if end is None else _level(x, end) for end in (min, max)]
    return _result(function, x, x._integers.clamp(*ends))


@_answers("pad constant_pad_nd", first=True)
def _padded(function, x, pad, *rest, **kwargs):
    """Integers around others; a number among them is rounded to one."""
    need_one_scale(function, x)
    mode = kwargs.get("mode", rest[0] if rest else "constant")
    value = kwargs.get("value", rest[1] if len(rest) > 1 else None)
    if function.__name__ == "constant_pad_nd":
        mode, value = "constant", rest[0] if rest else kwargs.get("value")
    if mode != "constant":
        return like(x, _C.ops.pad(x._integers, pad, mode))
    made = quantize(_C.tensor(float(value or 0)), x._scale, x._zero_point, x._dtype)
    return like(x, _C.ops.pad(x._integers, pad, "constant", made.item()))


@_answers("relu6")
def _relu6(function, x, inplace=False):
    return _result(function, x, x._integers.clamp(_level(x, 0), _level(x, 6)), inplace)


@_answers("hardtanh hardtanh_")
def _hardtanh(function, x, min_val=-1.0, max_val=1.0, inplace=False):
    made = x._integers.clamp(_level(x, min_val), _level(x, max_val))
    return _result(function, x, made, inplace)


def _level(x: QuantizedTensor, number) -> int:
    """The integer that stands for a number among those of x."""
    level = round(float(number) / x._scale) + x._zero_point
    return min(max(level, x._dtype.low), x._dtype.high)


@_answers("__iter__")
def _rows(function, x):
    check_iterable(x)
    return iter(x.unbind(0))


@_answers("__bool__")
def _truth(function, x):
    return bool(x.dequantize())


@_answers("share_memory_")
def _shared(function, x):
    x._integers.share_memory_()
    return x


@_answers("is_signed")
def _is_signed(function, x):
    raise no_sign()


_answers("imag")(no_imaginary_part)


@_answers("adjoint")
def _adjoint(function, x):
    _check_strides(x)
    return like(x, x._integers.transpose(-2, -1))


@_answers("type_as")
def _type_as(function, x, other):
    return x.to(other.dtype) if is_quantized(x) else x.type(other.type())


@_answers("dropout dropout1d dropout2d dropout3d")
def _dropout(function, x, p=0.5, training=True, inplace=False):
    if training:
        raise refused("dropout", " in training")
    return x


@_answers("max min")
def _extreme(function, x, *args, **kwargs):
    need_one_scale(function, x)
    made = function(x._integers, *args, **kwargs)
    if isinstance(made, Tensor):
        return like(x, made)
    return type(made)((like(x, made[0]), made[1]))


@_answers(
    "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc"
)
def _to_sparse(function, x, *args, **kwargs):
    raise refused(getattr(function, "__name__", "to_sparse"))


@_answers("argsort", first=True)
def _order(function, x, *args, **kwargs):
    need_one_scale(function, x)
    return function(x._integers, *args, **kwargs)


@_answers("sort topk")
def _sorted(function, x, *args, **kwargs):
    need_one_scale(function, x)
    made = function(x._integers, *args, **kwargs)
    return type(made)((like(x, made[0]), made[1]))


@_answers("cat concat stack")
def _joined(function, tensors, dim=0):
    first = tensors[0]
    if any(not is_quantized(x) or x._axis is not None for x in tensors):
        raise refused(function.__name__, " unless all have one scale each")
    parts = [
        x._integers
        if (x._scale, x._zero_point) == (first._scale, first._zero_point)
        else requantized(x.dequantize(), first)._integers
        for x in tensors
    ]
    return like(first, function(parts, dim))


@_answers("item tolist numpy __array__ __float__ __int__ __index__ is_nonzero")
def _values(function, x, *args):
    return function(x.dequantize(), *args)


@_answers("dequantize")
def _dequantize(function, x):
    if isinstance(x, (list, tuple)):
        return [QuantizedTensor.dequantize(y) for y in x]
    return QuantizedTensor.dequantize(x)


@_answers("copy_")
def _copy(function, x, source, non_blocking=False):
    if not is_quantized(x):
        return x.copy_(source.dequantize())
    if not is_quantized(source):
        if x._axis is not None:
            raise refused("copy_", " from numbers to channels")
        source = requantized(source.to(_C.float32).expand(x.shape), x)
    if source._dtype is not x._dtype:
        raise RuntimeError(
            "Quantized Copy only works with Quantized Tensors of the same dtype"
        )
    x._integers.copy_(source._integers)
    x._scale, x._zero_point = source._scale, source._zero_point
    x._axis = source._axis
    return x


@_answers("__setitem__")
def _set_item(function, x, index, value):
    if x._axis is not None:
        raise refused("__setitem__", " whose channels have their own scales")
    value = value.dequantize() if is_quantized(value) else value
    part = x._integers[index]
    numbers = _C.ops.full_like(part, 0, dtype=_C.float32)
    numbers.copy_(value) if isinstance(value, Tensor) else numbers.fill_(value)
    x._integers[index] = requantized(numbers, x)._integers


@_answers("fill_")
def _fill(function, x, value):
    numbers = _C.ops.full_like(x._integers, value, dtype=_C.float32)
    return _copy(function, x, numbers)


@_answers("to")
def _to(function, x, *args, **kwargs):
    args = [a.dtype if is_quantized(a) else a for a in args]
    asked = [*args, *kwargs.values()]
    for value in asked:
        if isinstance(value, _C.dtype) and value is not x._dtype:
            _cast(function, x)
    args = [a for a in args if a is not x._dtype]
    kwargs = {k: v for k, v in kwargs.items() if v is not x._dtype}
    if not args and not kwargs:
        return x
    made = function(x._integers, *args, **kwargs)
    return x if made is x._integers else like(x, made)


@_answers("broadcast_tensors")
def _broadcast(function, *tensors):
    made = function(*(x._integers for x in tensors))
    return [
        x if y.shape == x.shape else x.expand(y.shape) for x, y in zip(tensors, made)
    ]


@_answers("float double half bfloat16 int long")
def _cast(function, x):
    raise RuntimeError(
        "Creation of quantized tensor requires quantized dtype like "
        "torch.quint8; dequantize() gives the numbers"
    )


@_answers("empty_like zeros_like")
def _made_like(function, x, dtype=None, **kwargs):
    if dtype not in (None, x.dtype):
        raise RuntimeError(
            "It is currently not supported to specify a dtype that doesn't "
            "match the input tensor's dtype via empty_like.  "
            f"Specified: {dtype} Input tensor's dtype: {x.dtype}"
        )
    if function.__name__ == "zeros_like":
        return requantized(_C.ops.zeros_like(x._integers, dtype=_C.float32), x)
    return like(x, function(x._integers))
