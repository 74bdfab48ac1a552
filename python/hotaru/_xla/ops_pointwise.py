"""Arithmetic, comparisons and functions, element by element."""

from __future__ import annotations

import math

from .. import bool as bool_
from .. import float32
from .table import row
from .values import NotWritten, Val, dtype_of


def _floating(w, x: Val) -> Val:
    return x if x.floating else w.cast(x, float32)


_UNARY = {
    "exp": "exponential",
    "expm1": "exponential_minus_one",
    "log": "log",
    "log1p": "log_plus_one",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "sin": "sine",
    "cos": "cosine",
    "tan": "tan",
    "tanh": "tanh",
    "sigmoid": "logistic",
}


def _unary(name: str, op: str) -> None:
    @row(name)
    def write(w, self):
        return w.unary(op, _floating(w, self))


for _name, _op in _UNARY.items():
    _unary(_name, _op)


def _same_kind(name: str, op: str, whole: bool) -> None:
    """Functions that keep dtypes; `whole`: that leave integers as they are."""

    @row(name)
    def write(w, self):
        if whole and not self.floating:
            return self
        return w.unary(op, self)


for _name, _op, _whole in (
    ("neg", "negate", False),
    ("abs", "abs", False),
    ("sgn", "sign", False),
    ("sign", "sign", False),
    ("floor", "floor", True),
    ("ceil", "ceil", True),
    ("round", "round_nearest_even", True),
    ("bitwise_not", "not", False),
):
    _same_kind(_name, _op, _whole)


@row("erf")
def erf(w, self):
    x = _floating(w, self)
    return w.emit(f"chlo.erf {w.use(x)} : {w.type(x)} -> {w.type(x)}", x.shape, x.dtype)


@row("reciprocal")
def reciprocal(w, self):
    return w.binary("divide", 1.0, _floating(w, self))


@row("square")
def square(w, self):
    return w.binary("multiply", self, self)


@row("trunc", "fix")
def trunc(w, self):
    if not self.floating:
        return self
    size = w.unary("floor", w.unary("abs", self))
    return w.binary("multiply", w.unary("sign", self), size)


@row("frac")
def frac(w, self):
    return w.binary("subtract", self, trunc(w, self))


@row("exp2")
def exp2(w, self):
    x = w.binary("multiply", _floating(w, self), math.log(2))
    return w.unary("exponential", x)


def _log_of(name: str, base: float) -> None:
    @row(name)
    def write(w, self):
        out = w.unary("log", _floating(w, self))
        return w.binary("multiply", out, 1 / math.log(base))


_log_of("log2", 2.0)
_log_of("log10", 10.0)


def _scaled(w, x: Val, alpha) -> Val:
    if alpha == 1:
        return x
    return w.binary("multiply", x, w.full(alpha, (), x.dtype))


@row("add")
def add(w, self, other, alpha=1):
    x, y = w.promote(self, other)
    y = _scaled(w, y, alpha)
    return w.binary("or" if x.dtype == bool_ else "add", x, y)


@row("sub", "subtract")
def sub(w, self, other, alpha=1):
    x, y = w.promote(self, other)
    return w.binary("subtract", x, _scaled(w, y, alpha))


@row("rsub")
def rsub(w, self, other, alpha=1):
    return sub(w, other, self, alpha)


@row("mul", "multiply")
def mul(w, self, other):
    x, y = w.promote(self, other)
    return w.binary("and" if x.dtype == bool_ else "multiply", x, y)


@row("div", "divide", "true_divide")
def div(w, self, other, rounding_mode=None):
    if rounding_mode == "floor":
        return floor_divide(w, self, other)
    x, y = w.promote(self, other, floating=rounding_mode is None)
    if rounding_mode is not None and not x.floating:
        return w.binary("divide", x, y)
    out = w.binary("divide", x, y)
    return out if rounding_mode is None else trunc(w, out)


@row("floor_divide")
def floor_divide(w, self, other):
    x, y = w.promote(self, other)
    if x.floating:
        return w.unary("floor", w.binary("divide", x, y))
    x, y = w._pair(x, y)
    quotient = w.binary("divide", x, y)
    rest = w.binary("subtract", x, w.binary("multiply", quotient, y))
    down = w.binary(
        "and",
        w.compare("NE", rest, 0),
        w.compare("LT", w.binary("multiply", w.unary("sign", x), y), 0),
    )
    return w.where(down, w.binary("subtract", quotient, 1), quotient)


@row("remainder")
def remainder(w, self, other):
    x, y = w.promote(self, other)
    whole = floor_divide(w, x, y)
    return w.binary("subtract", x, w.binary("multiply", whole, y))


@row("fmod")
def fmod(w, self, other):
    x, y = w.promote(self, other)
    return w.binary("remainder", x, y)


@row("pow")
def power(w, self, exponent):
    x, y = w.promote(self, exponent)
    if not isinstance(exponent, Val):
        if exponent == 2:
            return w.binary("multiply", x, x)
        if exponent == 3:
            return w.binary("multiply", w.binary("multiply", x, x), x)
        if exponent == 0.5:
            return w.unary("sqrt", x)
        if exponent == -0.5:
            return w.unary("rsqrt", x)
        if exponent == 1:
            return x
    return w.binary("power", x, y)


@row("atan2")
def atan2(w, self, other):
    x, y = w.promote(self, other, floating=True)
    return w.binary("atan2", x, y)


def _extreme(name: str, op: str) -> None:
    @row(name)
    def write(w, self, other):
        x, y = w.promote(self, other)
        return w.binary(op, x, y)


_extreme("maximum", "maximum")
_extreme("minimum", "minimum")


def _compare(names, which: str) -> None:
    @row(*names)
    def write(w, self, other):
        x, y = w.promote(self, other)
        return w.compare(which, x, y)


for _names, _which in (
    (("eq", "__eq__"), "EQ"),
    (("ne", "not_equal"), "NE"),
    (("lt", "less"), "LT"),
    (("le", "less_equal"), "LE"),
    (("gt", "greater"), "GT"),
    (("ge", "greater_equal"), "GE"),
):
    _compare(_names, _which)


def _logical(names, op: str, bits: bool) -> None:
    @row(*names)
    def write(w, self, other):
        if not bits:
            cast = [
                w.cast(v, bool_) if isinstance(v, Val) else bool(v)
                for v in (self, other)
            ]
            return w.binary(op, *w.promote(*cast))
        x, y = w.promote(self, other)
        return w.binary(op, x, y)


for _op in ("and", "or", "xor"):
    _logical((f"logical_{_op}",), _op, False)
    _logical((f"bitwise_{_op}", f"__{_op}__"), _op, True)


@row("logical_not")
def logical_not(w, self):
    return w.unary("not", w.cast(self, bool_))


@row("isnan")
def isnan(w, self):
    return w.compare("NE", self, self)


@row("isinf")
def isinf(w, self):
    return w.compare("EQ", w.unary("abs", self), math.inf)


@row("clamp", "clip")
def clamp(w, self, min=None, max=None):
    values = [v for v in (self, min, max) if v is not None]
    out = w.promote(*values)[0]
    for bound, op in ((min, "maximum"), (max, "minimum")):
        if bound is not None:
            if not isinstance(bound, Val):
                bound = w.full(bound, (), out.dtype)
            out = w.binary(op, out, w.cast(bound, out.dtype))
    return out


@row("clamp_min")
def clamp_min(w, self, min):
    return clamp(w, self, min=min)


@row("clamp_max")
def clamp_max(w, self, max):
    return clamp(w, self, max=max)


@row("where")
def where(w, condition, self, other):
    x, y = w.promote(self, other)
    return w.where(w.cast(condition, bool_), x, y)


@row("masked_fill")
def masked_fill(w, self, mask, value):
    if isinstance(value, Val):
        value = w.cast(value, self.dtype)
    else:
        value = w.full(value, (), self.dtype)
    return w.where(w.cast(mask, bool_), value, self)


@row("lerp")
def lerp(w, self, end, weight):
    step = mul(w, sub(w, end, self), weight)
    return add(w, self, step)


@row("addcmul")
def addcmul(w, self, tensor1, tensor2, value=1):
    return add(w, self, mul(w, tensor1, tensor2), value)


@row("addcdiv")
def addcdiv(w, self, tensor1, tensor2, value=1):
    return add(w, self, div(w, tensor1, tensor2), value)


@row("to", "type_as")
def to(
    w,
    self,
    dtype=None,
    other=None,
    device=None,
    layout=None,
    pin_memory=None,
    non_blocking=False,
    copy=False,
    memory_format=None,
):
    """Conversions; one to the dtype that it has is the tensor itself."""
    _check_device(device)
    dtype = other.dtype if other is not None else dtype_of(dtype)
    if dtype is None or dtype == self.dtype:
        return w.binary("add", self, 0) if copy else self
    return w.cast(self, dtype)


def _check_device(device) -> None:
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise NotWritten(f"the device {device}")


@row("clone")
def clone(w, self, memory_format=None):
    return Val(w.use(self), self.shape, self.dtype)


@row("copy_")
def copy_(w, self, src, non_blocking=False):
    w.write(self, w.cast(src, self.dtype))
    return self
