"""Numbers, lists and texts of script IR, computed when a program is written."""

from __future__ import annotations

from ..jit._ir.arithmetic import CONTAINERS, TABLE
from .values import NO_ROW, NotWritten, Val

__all__ = ["CONTAINERS", "TABLE", "VALUES", "asked", "compute"]

# Questions that a tensor's kind answers.
ASKED = {
    "size": lambda x, dim=None: list(x.shape) if dim is None else x.shape[x.axis(dim)],
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


# Operators that have to wait for a tensor's value.
VALUES = {
    "Bool",
    "Int",
    "Float",
    "IntImplicit",
    "FloatImplicit",
    "ScalarImplicit",
    "item",
    "_local_scalar_dense",
    "is_nonzero",
    "tolist",
    "equal",
    "nonzero",
    "Scalar",
}


def asked(base: str, inputs):
    """(True, answer) where the kind of the first tensor answers."""
    if base in ASKED and inputs and isinstance(inputs[0], Val):
        return True, ASKED[base](*inputs)
    return False, None


def compute(base: str, inputs):
    """An operator without tensors. NotWritten: it is not known."""
    if base not in TABLE:
        raise NotWritten(NO_ROW)
    return TABLE[base](*inputs)
