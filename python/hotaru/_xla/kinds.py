"""Numbers, shapes and dtypes of StableHLO's text."""

from __future__ import annotations

import math
import struct

from .. import Tensor, empty, get_default_dtype, int64, result_type
from .. import bool as bool_
from .values import NAMES, NotWritten, Val

_FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
_KINDS = {"add": 0, "multiply": 1}


def numbers(values) -> str:
    return f"array<i64: {', '.join(str(int(v)) for v in values)}>"


def neutral(op: str, dtype):
    """Value that changes nothing."""
    if op in _KINDS:
        return _KINDS[op]
    if op in ("and", "or"):
        return op == "and"
    if dtype.is_floating_point:
        return -math.inf if op == "maximum" else math.inf
    if dtype == bool_:
        return op == "minimum"
    name = NAMES[dtype]
    if name.startswith("u"):
        return 0 if op == "maximum" else 2 ** int(name[2:]) - 1
    bits = int(name[1:])
    return -(2 ** (bits - 1)) if op == "maximum" else 2 ** (bits - 1) - 1


def scalar_text(value, dtype) -> str:
    """A number as an element of that type."""
    if dtype == bool_:
        return "true" if value else "false"
    if not dtype.is_floating_point:
        return str(int(value))
    value = float(value)
    if math.isfinite(value):
        return repr(value) if "." in repr(value) else f"{value:.17e}"
    name = NAMES[dtype]
    if name == "bf16":
        bits = struct.pack("<f", value)[2:]
    else:
        bits = struct.pack(_FORMATS[name], value)
    return f"0x{bits[::-1].hex().upper()}"


def broadcast_shape(*shapes) -> tuple:
    """The shape of them together. NotWritten: there is none."""
    rank = max(map(len, shapes))
    out = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if n != 1 and out[i] not in (1, n):
                raise NotWritten(f"shapes {shapes} do not broadcast")
            if n != 1:
                out[i] = n
    return tuple(out)


def promoted(*values):
    """The dtype of tensors and numbers together, by PyTorch's rules."""
    met = _like(values[0])
    for value in values[1:]:
        other = _like(value)
        dtype = result_type(met, other)
        rank = max(_rank(met), _rank(other))
        met = empty((0,) * rank, dtype=dtype, device="meta")
    if isinstance(met, Tensor):
        return met.dtype
    return {bool: bool_, int: int64}.get(type(met), get_default_dtype())


def _like(value):
    """A tensor of that dtype and of a dimension if it has any; a number."""
    if not isinstance(value, Val):
        return value
    shape = (0,) if value.shape else ()
    return empty(shape, dtype=value.dtype, device="meta")


def _rank(value) -> int:
    return value.dim() if isinstance(value, Tensor) else 0
