"""Numbers, lists and texts of script IR, computed when a program is written."""

from __future__ import annotations

import math
import operator

from .values import NotWritten, Val


def _floordiv(a, b):
    return a // b


def _set(items, index, value):
    items[index] = value
    return items


def _sliced(items, start=None, end=None, step=1):
    return items[start:end:step]


def _round(x, digits=None):
    return round(x) if digits is None else round(x, digits)


def _appended(items, value):
    items.append(value)
    return items


def _index(items, i):
    return items[i]


def _range_length(low, high, step):
    return len(range(low, high, step))


def _range_item(i, low, step):
    return low + i * step


# Operators of numbers, lists and the like, by base name.
TABLE = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "div": operator.truediv, "floordiv": _floordiv, "remainder": operator.mod,
    "pow": operator.pow, "neg": operator.neg, "abs": abs,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "__and__": operator.and_, "__or__": operator.or_,
    "__xor__": operator.xor, "__not__": operator.not_,
    "__is__": operator.is_, "__isnot__": operator.is_not,
    "__getitem__": _index, "__contains__": operator.contains,
    "_set_item": _set, "append": _appended, "slice": _sliced, "len": len,
    "list": list, "sqrt": math.sqrt, "exp": math.exp, "log": math.log,
    "floor": math.floor, "ceil": math.ceil, "round": _round,
    "min": min, "max": max, "Int": int, "Float": float, "Bool": bool,
    "str": str, "sum": sum, "keys": lambda d: list(d),
    "values": lambda d: list(d.values()), "all": all, "any": any,
    "sorted": sorted, "copy": list, "__range_length": _range_length,
    "__derive_index": _range_item,
}  # fmt: skip

# Those of lists and dicts, which may hold tensors.
CONTAINERS = {
    "__getitem__", "append", "len", "_set_item", "slice", "list", "copy",
    "keys", "values", "__contains__", "add",
}  # fmt: skip

# Questions that a tensor's kind answers.
ASKED = {
    "size": lambda x, dim=None: (
        list(x.shape) if dim is None else x.shape[x.axis(dim)]
    ),
    "sym_size": lambda x, dim: x.shape[x.axis(dim)],
    "dim": lambda x: x.rank,
    "len": lambda x: x.shape[0],
    "numel": lambda x: x.count,
    "sym_numel": lambda x: x.count,
    "is_floating_point": lambda x: x.floating,
    "is_complex": lambda x: False,
    "is_cuda": lambda x: False,
    "dtype": lambda x: x.dtype,
    "shape": lambda x: list(x.shape),
    "ndim": lambda x: x.rank,
    "device": lambda x: _cpu(),
    "requires_grad": lambda x: False,
    "is_nested": lambda x: False,
    "is_sparse": lambda x: False,
    "is_quantized": lambda x: False,
    "layout": lambda x: _strided(),
}


def _cpu():
    from .. import device

    return device("cpu")


def _strided():
    from .. import strided

    return strided


# What has to wait for a tensor's value.
VALUES = {
    "Bool", "Int", "Float", "IntImplicit", "FloatImplicit", "ScalarImplicit",
    "item", "_local_scalar_dense", "is_nonzero", "tolist", "equal",
    "nonzero", "Scalar",
}  # fmt: skip


def asked(base: str, inputs):
    """(True, answer) where the kind of the first tensor answers."""
    if base in ASKED and inputs and isinstance(inputs[0], Val):
        return True, ASKED[base](*inputs)
    return False, None


def compute(base: str, inputs):
    """An operator without tensors. NotWritten: it is not known."""
    if base not in TABLE:
        raise NotWritten("the xla backend has no row for it")
    return TABLE[base](*inputs)
