"""Elementwise operators of nested tensors with the layout strided."""

from __future__ import annotations

from .. import _C
from .._answering.names import base_name, out_of_place, words, writes
from .._answering.table import answers
from .._C import Tensor
from ..nn.functional._dropout import check_probability
from . import _packed
from ._base import STRIDED, around, is_nested, packed, placed, write
from ._packed import StridedNested, buffer_of

UNARY = words(
    "abs sgn logical_not isinf isposinf isneginf isnan relu gelu tanh neg "
    "silu sin cos sqrt"
)
BINARY = ["add", "sub", "mul", "div"]


@answers(*UNARY, of=STRIDED, every_form=True)
def unary(function, x, *args, **kwargs):
    """One of the functions of the elements, contiguous ones."""
    whole = buffer_of(x)
    if kwargs.pop("inplace", False):
        function = getattr(Tensor, function.__name__ + "_", function)
        return _in_place(function, x, whole, *args, **kwargs)
    if writes(function.__name__):
        return _in_place(function, x, whole, *args, **kwargs)
    return around(x, function(whole, *args, **kwargs))


def _in_place(function, x, whole, *args, **kwargs):
    if x.requires_grad and _C.is_grad_enabled():
        name = function.__name__
        # Values that the derivative needs are about to be overwritten.
        made = out_of_place(name)(packed(x).clone(), *args, **kwargs)
        return write(x, around(x, made))
    function(whole, *args, **kwargs)
    return x


@answers(*BINARY, of=STRIDED, every_form=True)
def binary(function, a, b, **kwargs):
    """A sum, difference, product or quotient of nested tensors of the same
    sizes, or of one and a number.
    """
    name = function.__name__
    if writes(name):
        return _written(function, a, b, **kwargs)
    if not is_nested(a):
        whole, like = _other(a, b, name, second=False), b
        return around(like, function(whole, packed(b), **kwargs))
    other = b
    if is_nested(b) or isinstance(b, Tensor):
        other = _other(b, a, name)
    return around(a, function(packed(a), other, **kwargs))


def _written(function, a, b, **kwargs):
    if not is_nested(a):
        if a.dim() == 0:
            raise RuntimeError(
                "output with shape [] doesn't match the broadcast shape "
                f"[{b._buffer.numel()}]"
            )
        raise RuntimeError(_both(a, b))
    if is_nested(b):
        _other(b, a, name=function.__name__)
    before = a.clone() if _C.is_grad_enabled() else a
    made = binary(out_of_place(function.__name__), before, b, **kwargs)
    return write(a, made.to(a.dtype))


def _both(a, b) -> str:
    words = ["nested" if is_nested(x) else "non-nested" for x in (a, b)]
    return (
        "Expected both self and other to be nested, but got a "
        f"{words[0]} self and {words[1]} other"
    )


def _other(x, nested: StridedNested, name: str, second: bool = True):
    """The operand beside the buffer of a nested tensor."""
    if not is_nested(x):
        if isinstance(x, Tensor) and x.dim() > 0:
            raise RuntimeError(_both(*((nested, x) if second else (x, nested))))
        return x
    if not isinstance(x, StridedNested):
        raise _packed.no_sizes()
    word = base_name(name)
    if x._at.sizes != nested._at.sizes:
        raise RuntimeError(
            f"{word} does not support broadcasting when given a NestedTensor"
        )
    if (
        x._at != nested._at
        and name.strip("_")[-3:] in ("add", "sub")
        and (not writes(name))
    ):
        return placed(nested, x)
    if x._at.strides != nested._at.strides:
        raise RuntimeError(f"{word} requires strides to match when given NestedTensors")
    if x._at.offsets != nested._at.offsets:
        raise RuntimeError(f"{word} requires offsets to match when given NestedTensors")
    return packed(x)


@answers("eq", "ge", "gt", of=STRIDED, every_form=True)
def compare(function, x, other):
    """A comparison with a number."""
    name = base_name(function.__name__)
    if is_nested(other):
        raise RuntimeError(f"{name} does not support nested tensor as other value.")
    if isinstance(other, Tensor) and other.dim() > 0:
        raise RuntimeError(
            f"{name} does not support nested tensor as self and a tensor "
            "with dimensions as other value"
        )
    return around(x, function(buffer_of(x), other))


@answers("masked_fill", of=STRIDED)
def masked_fill(x, mask, value):
    """`value` where a mask of the same sizes, or of no dimensions, says so."""
    if not is_nested(mask) and mask.dim() > 0:
        raise RuntimeError(_both(x, mask))
    found = _other(mask, x, "masked_fill")
    return around(x, packed(x).masked_fill(found, value))


@answers("fill_", "zero_", of=STRIDED)
def fill_(x, value=0):
    """All elements become `value`."""
    if isinstance(value, Tensor) and value.dim() > 0:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor "
            f"with {value.dim()} dimensions."
        )
    return write(x, around(x, _C.ops.zeros_like(x._buffer) + value))


@answers("where", of=STRIDED)
def where(*args, **kwargs):
    """RuntimeError: nested tensors of this layout have no `where`."""
    raise RuntimeError("self must not be nested")


@answers("dropout", "alpha_dropout", of=STRIDED)
def dropout(x, p=0.5, training=True, inplace=False, train=None):
    """Zeros at random, of contiguous tensors."""
    check_probability(p)
    on = training if train is None else train
    made = around(x, _C.ops.dropout(packed(x), p, bool(on)))
    return write(x, made) if inplace else made


def _like(maker, name: str):
    def make(x, *args, layout=None, memory_format=None, **kwargs):
        kwargs.pop("pin_memory", None)
        grad = kwargs.pop("requires_grad", False)
        whole = maker(x._buffer, *args, **kwargs)
        contiguous = memory_format is _C.contiguous_format
        at = _packed.dense(x._at.sizes) if contiguous else x._at
        made = StridedNested(whole, at)
        return made.requires_grad_() if grad else made

    make.__name__ = name
    return make


for _name in ("zeros_like", "ones_like", "empty_like", "randn_like"):
    STRIDED[_name] = _like(getattr(_C.ops, _name), _name)
