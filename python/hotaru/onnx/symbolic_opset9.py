"""Operators as nodes of ONNX's version 9, for symbolic functions of libraries.

A function takes the graph, `g`, whose `op(name, *inputs, **attributes)` writes
a node, and the operator's arguments: values of the graph, or Python's numbers.
hotaru's own exporter calls them where a program registered them.
"""

from __future__ import annotations

from .. import Tensor, int64, tensor
from .._own_names import no_attribute

__all__ = [
    "add",
    "cos",
    "div",
    "dropout",
    "exp",
    "log",
    "masked_fill",
    "matmul",
    "mul",
    "neg",
    "relu",
    "reshape",
    "sigmoid",
    "sin",
    "softmax",
    "sqrt",
    "sub",
    "tanh",
]

_BOOL = 9  # TensorProto.BOOL


def _value(g, value):
    """A value of the graph; a number becomes a constant of it."""
    if isinstance(value, (bool, int, float)):
        value = tensor(value)
    if isinstance(value, Tensor):
        return g.op("Constant", value_t=value)
    return value


def _unary(name: str, node: str):
    def function(g, self):
        return g.op(node, self)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The node {node}."
    return function


def _binary(name: str, node: str):
    def function(g, self, other):
        return g.op(node, self, _value(g, other))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The node {node}; a number is a constant."
    return function


cos, exp, log, neg, relu = (
    _unary(name, name.capitalize()) for name in ("cos", "exp", "log", "neg", "relu")
)
sigmoid, sin, sqrt, tanh = (
    _unary(name, name.capitalize()) for name in ("sigmoid", "sin", "sqrt", "tanh")
)
div, mul = _binary("div", "Div"), _binary("mul", "Mul")
matmul = _binary("matmul", "MatMul")


def _scaled(g, other, alpha):
    other = _value(g, other)
    plain = alpha is None or (isinstance(alpha, (int, float)) and alpha == 1)
    return other if plain else g.op("Mul", other, _value(g, alpha))


def add(g, self, other, alpha=None):
    """Add, of `other` times alpha."""
    return g.op("Add", self, _scaled(g, other, alpha))


def sub(g, self, other, alpha=None):
    """Sub, of `other` times alpha."""
    return g.op("Sub", self, _scaled(g, other, alpha))


def reshape(g, self, shape):
    """Reshape, to a list of sizes or a value of the graph."""
    if isinstance(shape, (list, tuple)):
        shape = g.op("Constant", value_t=tensor(shape, dtype=int64))
    return g.op("Reshape", self, shape)


def softmax(g, input, dim: int, dtype=None):
    """Softmax along any dimension: the node of this version flattens those
    before and behind, so the parts are written.
    """
    largest = g.op("ReduceMax", input, axes_i=[dim], keepdims_i=1)
    powers = g.op("Exp", g.op("Sub", input, largest))
    total = g.op("ReduceSum", powers, axes_i=[dim], keepdims_i=1)
    return g.op("Div", powers, total)


def masked_fill(g, self, mask, value):
    """Where, with the mask as booleans."""
    mask = g.op("Cast", mask, to_i=_BOOL)
    return g.op("Where", mask, _value(g, value), self)


def dropout(g, input, p: float, train: bool):
    """The input itself, or in training Dropout."""
    return g.op("Dropout", input, ratio_f=p) if train else input


def __getattr__(name: str):
    if name.startswith("__"):
        raise no_attribute(__name__, name)
    raise no_attribute(
        __name__, name, f": write the node by g.op, hotaru has functions for {__all__}"
    )
