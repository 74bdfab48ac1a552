"""Activations."""

from __future__ import annotations

import math

from .ops_pointwise import clamp, erf
from .table import row
from .values import DRAWS, NotWritten


@row("relu")
def relu(w, self):
    return w.binary("maximum", self, 0)


@row("relu6")
def relu6(w, self):
    return clamp(w, self, 0, 6)


@row("hardtanh")
def hardtanh(w, self, min_val=-1, max_val=1):
    return clamp(w, self, min_val, max_val)


@row("leaky_relu")
def leaky_relu(w, self, negative_slope=0.01):
    low = w.binary("multiply", self, negative_slope)
    return w.where(w.compare("GT", self, 0), self, low)


@row("prelu", "_prelu_kernel")
def prelu(w, self, weight):
    if self.rank > 1 and weight.rank == 1:
        ones = (1,) * (self.rank - 2)
        weight = w.reshape(weight, (weight.count, *ones))
    low = w.binary("multiply", self, weight)
    return w.where(w.compare("GT", self, 0), self, low)


@row("gelu")
def gelu(w, self, approximate="none"):
    if approximate == "tanh":
        cube = w.binary("multiply", w.binary("multiply", self, self), self)
        inner = w.binary("add", self, w.binary("multiply", cube, 0.044715))
        inner = w.binary("multiply", inner, math.sqrt(2 / math.pi))
        curve = w.unary("tanh", inner)
    else:
        curve = erf(w, w.binary("multiply", self, math.sqrt(0.5)))
    half = w.binary("multiply", self, 0.5)
    return w.binary("multiply", half, w.binary("add", curve, 1))


@row("silu")
def silu(w, self):
    return w.binary("multiply", self, w.unary("logistic", self))


@row("mish")
def mish(w, self):
    return w.binary("multiply", self, w.unary("tanh", softplus(w, self)))


@row("softplus")
def softplus(w, self, beta=1, threshold=20):
    x = w.binary("multiply", self, beta)
    # log(1 + e^x) without overflow.
    low = w.unary("negate", w.unary("abs", x))
    out = w.binary(
        "add",
        w.binary("maximum", x, 0),
        w.unary("log_plus_one", w.unary("exponential", low)),
    )
    out = w.binary("divide", out, beta)
    return w.where(w.compare("GT", x, threshold), self, out)


@row("log_sigmoid")
def log_sigmoid(w, self):
    return w.unary("negate", softplus(w, w.unary("negate", self), 1, math.inf))


@row("elu")
def elu(w, self, alpha=1, scale=1, input_scale=1):
    below = w.binary("multiply", self, input_scale)
    below = w.unary("exponential_minus_one", below)
    below = w.binary("multiply", below, alpha * scale)
    above = w.binary("multiply", self, scale)
    return w.where(w.compare("GT", self, 0), above, below)


@row("selu")
def selu(w, self):
    return elu(w, self, 1.6732632423543772848, 1.0507009873554804934)


@row("celu")
def celu(w, self, alpha=1.0):
    return elu(w, self, alpha, 1, 1 / alpha)


@row("hardsigmoid")
def hardsigmoid(w, self):
    shifted = clamp(w, w.binary("add", self, 3), 0, 6)
    return w.binary("multiply", shifted, 1 / 6)


@row("hardswish")
def hardswish(w, self):
    return w.binary("multiply", self, hardsigmoid(w, self))


@row("dropout", "feature_dropout", "alpha_dropout")
def dropout(w, input, p, train):
    if train and p > 0:
        raise NotWritten(DRAWS)
    return input


@row("glu")
def glu(w, self, dim=-1):
    dim = self.axis(dim)
    half = self.shape[dim] // 2
    gate = w.unary("logistic", w.cut(self, dim, half, 2 * half))
    return w.binary("multiply", w.cut(self, dim, 0, half), gate)
