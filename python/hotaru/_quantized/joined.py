"""`torch.ops.quantized`: sums, products and joined tensors, quantised anew.

Each takes the numbers of its operands, computes in float32 and rounds once, to
the nearest integer, of two to the even one. Operators are defined when they
are first asked for; others of PyTorch's namespace are not there.
"""

from __future__ import annotations

import functools

from .. import cat
from .._library.definitions import Library
from .create import quantize_per_tensor
from .kind import OWN
from .tensor import is_quantized

_library: Library | None = None


def _check(operator: str, x) -> None:
    if not is_quantized(x):
        raise NotImplementedError(
            f"quantized::{operator}: operands are quantised tensors, and one is not"
        )
    if x._axis is not None:
        raise RuntimeError(f"Only per tensor quantization is supported in {operator}.")


def _pair(operator: str, qa, qb, scale: float, zero_point: int):
    for x in (qa, qb):
        _check(operator, x)
    if qa.dtype != qb.dtype:
        raise RuntimeError(
            f"{operator.partition('_')[0].title()} operands should have same data type."
        )
    a, b = qa.dequantize(), qb.dequantize()
    result = a + b if operator.startswith("add") else a * b
    if operator.endswith("_relu"):
        result = result.relu()
    return quantize_per_tensor(result, scale, zero_point, qa.dtype)


def _joined(operator: str, qx, dim: int, scale=None, zero_point=None):
    if len(qx) == 0:
        raise NotImplementedError(f"quantized::{operator}: no tensors")
    for x in qx:
        _check(operator, x)
    first = qx[0]
    if any(x.dtype != first.dtype for x in qx):
        raise RuntimeError("All dtypes must be the same.")
    numbers = cat([x.dequantize() for x in qx], dim)
    if operator.endswith("_relu"):
        numbers = numbers.relu()
    scale = first.q_scale() if scale is None else scale
    if zero_point is None:
        zero_point = first.q_zero_point()
    return quantize_per_tensor(numbers, scale, zero_point, first.dtype)


_PAIR = "(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc"
_LIST = "(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor"
_DEFINED = {
    **dict.fromkeys(("add", "add_relu", "mul", "mul_relu"), (_PAIR, _pair)),
    **dict.fromkeys(("cat", "cat_relu"), (_LIST, _joined)),
}


def define(name: str) -> None:
    """Defines the operator of this name, if it is one of these."""
    global _library
    if name not in _DEFINED:
        return
    if _library is None:
        _library = Library("quantized", "FRAGMENT")
    schema, kernel = _DEFINED.pop(name)
    _library.define(name + schema)
    OWN[name] = functools.partial(kernel, name)
    _library.impl(name, OWN[name], "CompositeImplicitAutograd")
