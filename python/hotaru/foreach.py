"""Operators over lists of tensors: each is applied at every place of a list.

`add([x, y], 1)` gives a tuple of what `torch.add` gives; names with `_` write
into the tensors and return the list itself. Lists have at least one tensor,
and are of one length.
"""

from __future__ import annotations

from . import _C
from ._overrides import overridable as _overridable

_ops = _C.ops
_UNARY = [
    "abs",
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]
# By the name of what they take beside the tensors.
_BINARY = {
    "clamp_max": "max",
    "clamp_min": "min",
    "div": "other",
    "maximum": "other",
    "minimum": "other",
    "mul": "other",
}

__all__ = [
    *_UNARY,
    *(f"{name}_" for name in _UNARY),
    *_BINARY,
    *(f"{name}_" for name in _BINARY),
    "add",
    "add_",
    "addcdiv",
    "addcdiv_",
    "addcmul",
    "addcmul_",
    "clone",
    "copy_",
    "lerp",
    "lerp_",
    "max",
    "mm",
    "norm",
    "pow",
    "pow_",
    "sub",
    "sub_",
    "zero_",
]


def _named(function, name: str, of: str):
    function.__name__ = function.__qualname__ = name
    written = " in place; returns the list" if name.endswith("_") else ""
    function.__doc__ = f"`torch.{of}` of each tensor{written}."
    return function


def _unary(name: str):
    operator = getattr(_ops, f"_foreach_{name}")

    def function(inputs, /):
        return operator(inputs)

    return _named(function, name, name)


def _unary_in_place(name: str):
    operator = getattr(_ops, f"_foreach_{name}")

    def function(inputs, /):
        operator(inputs)
        return inputs

    return _named(function, name, name[:-1])


def _binary(name: str):
    operator = getattr(_ops, f"_foreach_{name}")

    def function(inputs, other, /):
        return operator(inputs, other)

    return _named(function, name, name)


def _binary_in_place(name: str):
    operator = getattr(_ops, f"_foreach_{name}")

    def function(inputs, other, /):
        operator(inputs, other)
        return inputs

    return _named(function, name, name[:-1])


for _name in _UNARY:
    globals()[_name] = _unary(_name)
    globals()[f"{_name}_"] = _unary_in_place(f"{_name}_")
for _name in _BINARY:
    globals()[_name] = _binary(_name)
    globals()[f"{_name}_"] = _binary_in_place(f"{_name}_")

# Where nothing is said of it, operators without it are called.
_NONE = object()


def _alpha(alpha) -> dict:
    return {} if alpha is _NONE else {"alpha": alpha}


def add(inputs, other, /, *, alpha=_NONE):
    """`torch.add` of each; `alpha` with a list of tensors, or one tensor."""
    return _ops._foreach_add(inputs, other, **_alpha(alpha))


def add_(inputs, other, /, *, alpha=_NONE):
    """`add` in place; returns the list."""
    _ops._foreach_add_(inputs, other, **_alpha(alpha))
    return inputs


def sub(inputs, other, /, *, alpha=_NONE):
    """`torch.sub` of each; `alpha` with a list of tensors."""
    return _ops._foreach_sub(inputs, other, **_alpha(alpha))


def sub_(inputs, other, /, *, alpha=_NONE):
    """`sub` in place; returns the list."""
    _ops._foreach_sub_(inputs, other, **_alpha(alpha))
    return inputs


def addcmul(inputs, tensor1, tensor2, /, *, value=1):
    """`torch.addcmul` of each; a value for all, a list, or a tensor of them."""
    return _ops._foreach_addcmul(inputs, tensor1, tensor2, value)


def addcmul_(inputs, tensor1, tensor2, /, *, value=1):
    """`addcmul` in place; returns the list."""
    _ops._foreach_addcmul_(inputs, tensor1, tensor2, value)
    return inputs


def addcdiv(inputs, tensor1, tensor2, /, *, value=1):
    """`torch.addcdiv` of each; values as those of `addcmul`."""
    return _ops._foreach_addcdiv(inputs, tensor1, tensor2, value)


def addcdiv_(inputs, tensor1, tensor2, /, *, value=1):
    """`addcdiv` in place; returns the list."""
    _ops._foreach_addcdiv_(inputs, tensor1, tensor2, value)
    return inputs


def lerp(inputs, end, weight, /):
    """`torch.lerp` of each; a weight for all, or a list."""
    return _ops._foreach_lerp(inputs, end, weight)


def lerp_(inputs, end, weight, /):
    """`lerp` in place; returns the list."""
    _ops._foreach_lerp_(inputs, end, weight)
    return inputs


def pow(input, exponent, /):
    """`torch.pow` of each; either may be a number."""
    return _ops._foreach_pow(input, exponent)


def pow_(inputs, exponent, /):
    """`pow` in place; returns the list."""
    _ops._foreach_pow_(inputs, exponent)
    return inputs


def clone(inputs, /, *, memory_format=None):
    """`torch.clone` of each."""
    if memory_format is None:
        return _ops._foreach_clone(inputs)
    return _ops._foreach_clone(inputs, memory_format=memory_format)


def max(inputs, /):
    """The largest element of each."""
    return _ops._foreach_max(inputs)


def norm(inputs, /, *, ord=2, dtype=None):
    """The vector norm of each: all of its elements."""
    return _ops._foreach_norm(inputs, ord, dtype=dtype)


def mm(inputs, mat2, /):
    """The product of each pair of matrices."""
    return _ops._foreach_mm(inputs, mat2)


def copy_(inputs, src, /, *, non_blocking: bool = False):
    """`Tensor.copy_` of each; returns the list."""
    _ops._foreach_copy_(inputs, src, non_blocking)
    return inputs


def zero_(inputs, /):
    """`Tensor.zero_` of each; returns the list."""
    _ops._foreach_zero_(inputs)
    return inputs


_overridable(globals(), __all__)
