"""`torch.ops.mkldnn`: layers with an elementwise function behind them."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from ..nn import functional as F
from .tensor import around, is_onednn, plain

_UNARY = {
    "": lambda x: x,
    "none": lambda x: x,
    "relu": F.relu,
    "sigmoid": _C.ops.sigmoid,
    "tanh": _C.ops.tanh,
    "swish": F.silu,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "leaky_relu": lambda x, slope: F.leaky_relu(x, slope),
    "hardtanh": lambda x, low, high: F.hardtanh(x, low, high),
}
_BINARY = {name: getattr(_C.ops, name) for name in ("add", "sub", "mul", "div")}


def _found(table: dict, attr: str):
    if attr not in table:
        raise RuntimeError(f"{attr} is not a supported fusion")
    return table[attr]


def _unary(x: Tensor, attr: str, scalars, algorithm) -> Tensor:
    if attr == "gelu":
        return F.gelu(x, approximate=algorithm or "none")
    return _found(_UNARY, attr)(
        x, *(each for each in scalars or () if each is not None)
    )


def _binary(x: Tensor, other: Tensor, attr: str, alpha=None) -> Tensor:
    function = _found(_BINARY, attr)
    if alpha is not None and alpha != 1:
        raise RuntimeError("the alpha value of a fused operator should be 1.0")
    return function(x, plain(other))


def _linear(x: Tensor, w: Tensor, b) -> Tensor:
    return F.linear(plain(x), plain(w), plain(b))


def _linear_pointwise(X, W, B, attr, scalars, algorithm):
    return _like(X, _unary(_linear(X, W, B), attr, scalars, algorithm))


def _linear_binary(X, other, W, B, attr):
    return _like(X, _binary(_linear(X, W, B), other, attr))


def _like(x: Tensor, made: Tensor) -> Tensor:
    """The result in the layout of the input."""
    return around(made) if is_onednn(x) else made


def _spread(value, count: int) -> list:
    values = list(value)
    return values * count if len(values) == 1 else values


def _convolution(x, w, b, padding, stride, dilation, groups, more=None) -> Tensor:
    count = x.dim() - 2
    lists = (_spread(v, count) for v in (stride, padding, dilation))
    more, transposed = ([0] * count, False) if more is None else (more, True)
    tensors = (plain(x), plain(w), plain(b))
    return _C.ops.convolution(
        *tensors, *lists, transposed, _spread(more, count), groups
    )


def _convolution_pointwise(
    X, W, B, padding, stride, dilation, groups, attr, scalars, algorithm
):
    made = _convolution(X, W, B, padding, stride, dilation, groups)
    return _like(X, _unary(made, attr, scalars, algorithm))


def _convolution_binary(
    X,
    other,
    W,
    B,
    padding,
    stride,
    dilation,
    groups,
    binary_attr,
    alpha,
    unary_attr,
    unary_scalars,
    unary_algorithm,
):
    made = _convolution(X, W, B, padding, stride, dilation, groups)
    made = _binary(made, other, binary_attr, alpha)
    return _like(X, _unary(made, unary_attr or "", unary_scalars, unary_algorithm))


def _convolution_added(other, X, W, B, *options):
    # Four options of the convolution, then the operator's name.
    if options[4] != "add":
        raise RuntimeError("_convolution_pointwise_: only add is done in place")
    return other.copy_(_convolution_binary(X, other, W, B, *options))


def _convolution_transpose_pointwise(
    X, W, B, padding, output_padding, stride, dilation, groups, attr, scalars, algorithm
):
    made = _convolution(X, W, B, padding, stride, dilation, groups, output_padding)
    return _like(X, _unary(made, attr, scalars, algorithm))


def _reordered(self, *given):
    """A copy in the layout: there is one order here."""
    return around(plain(self).clone())


_UNARY_REST = "str attr, Scalar?[] scalars, str? algorithm) -> Tensor Y"
_SIZES = "int[] padding, int[] stride, int[] dilation, int groups, "
_BINARY_REST = (
    "Tensor W, Tensor? B, " + _SIZES + "str binary_attr, Scalar? alpha, "
    "str? unary_attr, Scalar?[] unary_scalars, str? unary_algorithm) -> "
)
_REORDER = "int[2] stride=1, int[2] dilation=1, int groups=1, int[]? input_size=None) "
_REORDER += "-> Tensor Y"

SCHEMAS = {
    "_linear_pointwise": {
        "": ("(Tensor X, Tensor W, Tensor? B, " + _UNARY_REST, _linear_pointwise),
        ".binary": (
            "(Tensor X, Tensor other, Tensor W, Tensor? B, str attr) -> Tensor Y",
            _linear_binary,
        ),
    },
    "_convolution_pointwise": {
        "": (
            "(Tensor X, Tensor W, Tensor? B, " + _SIZES + _UNARY_REST,
            _convolution_pointwise,
        ),
        ".binary": (
            "(Tensor X, Tensor other, " + _BINARY_REST + "Tensor Y",
            _convolution_binary,
        ),
    },
    "_convolution_pointwise_": {
        ".binary": (
            "(Tensor(a!) other, Tensor X, " + _BINARY_REST + "Tensor(a!) Y",
            _convolution_added,
        )
    },
    "_convolution_transpose_pointwise": {
        "": (
            "(Tensor X, Tensor W, Tensor? B, int[] padding, int[] output_padding, "
            "int[] stride, int[] dilation, int groups, " + _UNARY_REST,
            _convolution_transpose_pointwise,
        )
    },
    "_reorder_linear_weight": {
        "": ("(Tensor self, int? batch_size=None) -> Tensor Y", _reordered)
    },
    "_reorder_convolution_weight": {
        "": ("(Tensor self, int[2] padding=0, " + _REORDER, _reordered)
    },
    "_reorder_convolution_transpose_weight": {
        "": (
            "(Tensor self, int[2] padding=0, int[2] output_padding=0, " + _REORDER,
            _reordered,
        )
    },
}
