"""Sums, extremes and softmax."""

from __future__ import annotations

import math

from .. import bool as bool_
from .. import int64
from .ops_linear import softmax_of
from .table import row
from .values import NotWritten, Val, dtype_of


def _dims(x: Val, dim) -> list[int]:
    """Dimensions; none given means all."""
    if dim is None or dim == []:
        return list(range(x.rank))
    return [x.axis(d) for d in ([dim] if isinstance(dim, int) else dim) if x.rank]


def _size(x: Val, dims) -> int:
    n = 1
    for d in dims:
        n *= x.shape[d]
    return n


def mean_of(w, x: Val, dims, keep: bool = True) -> Val:
    total = w.reduce("add", x, dims, keep)
    return w.binary("divide", total, _size(x, dims) or math.nan)


def _summed(w, x: Val, dtype) -> Val:
    dtype = dtype_of(dtype)
    if dtype is None and not x.floating:
        dtype = int64
    return w.cast(x, dtype)


@row("sum")
def sum_(w, self, dim=None, keepdim=False, dtype=None):
    x = _summed(w, self, dtype)
    return w.reduce("add", x, _dims(x, dim), keepdim)


@row("prod")
def prod(w, self, dim=None, keepdim=False, dtype=None):
    x = _summed(w, self, dtype)
    return w.reduce("multiply", x, _dims(x, dim), keepdim)


@row("mean")
def mean(w, self, dim=None, keepdim=False, dtype=None):
    x = w.cast(self, dtype_of(dtype))
    return mean_of(w, x, _dims(x, dim), keepdim)


@row("var")
def var(w, self, dim=None, unbiased=True, keepdim=False, correction=None):
    dims = _dims(self, dim)
    if correction is None:
        correction = 1 if unbiased else 0
    apart = w.binary("subtract", self, mean_of(w, self, dims))
    total = w.reduce("add", w.binary("multiply", apart, apart), dims, keepdim)
    left = max(_size(self, dims) - correction, 0)
    return w.binary("divide", total, left)


@row("std")
def std(w, self, dim=None, unbiased=True, keepdim=False, correction=None):
    return w.unary("sqrt", var(w, self, dim, unbiased, keepdim, correction))


def _extreme(name: str, op: str) -> None:
    @row(f"a{name}")
    def all_dims(w, self, dim=None, keepdim=False):
        return w.reduce(op, self, _dims(self, dim), keepdim)

    @row(name)
    def write(w, self, dim=None, keepdim=False, other=None):
        if other is not None:
            return w.binary(f"{name}imum", *w.promote(self, other))
        if dim is None:
            return w.reduce(op, self, list(range(self.rank)))
        dim = self.axis(dim)
        best = w.reduce(op, self, [dim], keepdim)
        return best, _place(w, op, self, dim, keepdim)

    @row(f"arg{name}")
    def place(w, self, dim=None, keepdim=False):
        if dim is None:
            flat = w.reshape(self, (self.count,))
            return _place(w, op, flat, 0, False)
        return _place(w, op, self, self.axis(dim), keepdim)


def _place(w, op: str, x: Val, dim: int, keep: bool) -> Val:
    """The first index of the largest or smallest."""
    best = w.reduce(op, x, [dim], keep=True)
    places = w.iota(x.shape, dim, int64)
    here = w.compare("EQ", x, best)
    if x.floating:  # a NaN is the largest and the smallest
        here = w.binary("or", here, w.compare("NE", x, x))
    places = w.where(here, places, w.full(x.shape[dim], (), int64))
    return w.reduce("minimum", places, [dim], keep)


_extreme("max", "maximum")
_extreme("min", "minimum")


def _logic(name: str, op: str) -> None:
    @row(name)
    def write(w, self, dim=None, keepdim=False):
        x = w.cast(self, bool_)
        return w.reduce(op, x, _dims(x, dim), keepdim)


_logic("all", "and")
_logic("any", "or")


@row("softmax", "_softmax", "_safe_softmax")
def softmax(w, self, dim, dtype=None, half_to_float=False):
    x = w.cast(self, dtype_of(dtype))
    return softmax_of(w, x, x.axis(dim))


@row("log_softmax", "_log_softmax")
def log_softmax(w, self, dim, dtype=None, half_to_float=False):
    x = w.cast(self, dtype_of(dtype))
    dim = x.axis(dim)
    x = w.binary("subtract", x, w.reduce("maximum", x, [dim], keep=True))
    total = w.reduce("add", w.unary("exponential", x), [dim], keep=True)
    return w.binary("subtract", x, w.unary("log", total))


@row("logsumexp")
def logsumexp(w, self, dim, keepdim=False):
    dims = _dims(self, dim)
    top = w.reduce("maximum", self, dims, keep=True)
    powers = w.unary("exponential", w.binary("subtract", self, top))
    total = w.unary("log", w.reduce("add", powers, dims, keep=True))
    out = w.binary("add", total, top)
    if keepdim:
        return out
    return w.reshape(out, [n for d, n in enumerate(self.shape) if d not in dims])


@row("cumsum")
def cumsum(w, self, dim, dtype=None):
    x = _summed(w, self, dtype)
    if not x.rank or not x.count:
        return x
    dim = x.axis(dim)
    ones = [1] * x.rank
    sizes, pads = list(ones), [[0, 0] for _ in ones]
    sizes[dim], pads[dim] = x.shape[dim], [x.shape[dim] - 1, 0]
    return w.window("add", x, sizes, ones, pads, ones)


@row("norm", "linalg_vector_norm", "frobenius_norm")
def norm(w, self, p=2, dim=None, keepdim=False, dtype=None, ord=None):
    x = w.cast(self, dtype_of(dtype))
    p = 2 if p is None and ord is None else (p if ord is None else ord)
    dims = _dims(x, dim)
    size = w.unary("abs", x)
    if p == math.inf:
        return w.reduce("maximum", size, dims, keepdim)
    if p == 1:
        return w.reduce("add", size, dims, keepdim)
    if p != 2:
        raise NotWritten(f"the norm of order {p}")
    total = w.reduce("add", w.binary("multiply", x, x), dims, keepdim)
    return w.unary("sqrt", total)
