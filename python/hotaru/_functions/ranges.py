"""Rows of numbers whose end belongs to them: range, linspace, logspace."""

from __future__ import annotations

import math
import warnings

from .. import _C
from .._C import Tensor, ops
from .._extension.dtypes import cpp_name, scalar_type
from .._overrides import overridable as _overridable

__all__ = ["linspace", "logspace", "range"]


def range(start, end=None, step=1, *, out=None, dtype=None, **kwargs):
    """`arange` with its end, which is deprecated.

    out: takes the numbers in order, resized if it has not as many elements.
    RuntimeError for a step of 0, or one that leads away from the end.
    """
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release "
        "because its behavior is inconsistent with Python's range builtin. "
        "Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (step > 0) != (end >= start) and end != start:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    steps = math.floor((end - start) / step) + 1
    row = ops.arange(steps, dtype=_C.float64).mul_(step).add_(start)
    if out is not None:
        return _into(out, row)
    dtype = _C.get_default_dtype() if dtype is None else dtype
    return row.to(dtype=dtype, **kwargs)


def _into(out: Tensor, row: Tensor) -> Tensor:
    """A row written to `out` in the order of its elements."""
    if out.numel() != row.numel():
        out.resize_(row.shape)
    return out.copy_(row.reshape(out.shape))


def linspace(start, end, steps=None, *, out=None, dtype=None, **kwargs):
    """`steps` numbers from `start` to `end`, both included, evenly spaced.

    Args:
        start, end: numbers, or tensors without dimensions. Complex ones make
            a complex result.
        out: takes the numbers in order, resized if it has not as many.

    Raises:
        RuntimeError: a dtype that cannot hold complex ends; fewer than 0.
    """
    return _row("linspace", (start, end), steps, out, dtype, (), kwargs)


def logspace(start, end, steps=None, base=10.0, *, out=None, dtype=None, **kwargs):
    """`base` to the powers of `linspace`."""
    ends = (start, end)
    return _row("logspace", ends, steps, out, dtype, (base,), kwargs)


def _row(name: str, ends, steps, out, dtype, more, kwargs):
    operator = getattr(ops, name)
    given = () if steps is None else (steps,)
    if dtype is not None and not isinstance(dtype, _C.dtype):
        return operator(*ends, *given, *more, dtype=dtype, **kwargs)
    if out is not None:
        ends = [_number(end) for end in ends]
    wanted = dtype if out is None else out.dtype
    complex_ends = any(map(_is_complex, ends))
    if not complex_ends and (wanted is None or not wanted.is_complex):
        if out is not None and not out.is_contiguous():
            row = operator(*ends, *given, *more, dtype=wanted, **kwargs)
            return _into(out, row)
        if out is not None:
            kwargs["out"] = out
        return operator(*ends, *given, *more, dtype=dtype, **kwargs)
    if complex_ends and out is None:
        wanted = _complex_dtype(name, dtype)
    elif complex_ends and not wanted.is_complex:
        raise RuntimeError(
            f"value cannot be converted to type {cpp_name(wanted)} without overflow"
        )
    row = _complex_row(operator, ends, given, wanted, kwargs)
    if more:
        row = ops.pow(more[0], row)
    return row if out is None else _into(out, row)


def _complex_dtype(name: str, dtype):
    """The dtype of complex numbers where a call names `dtype`, or none."""
    of_parts = _C.get_default_dtype()
    inferred = of_parts.to_complex()
    if dtype is None:
        return inferred
    if not dtype.is_complex:
        raise RuntimeError(
            f"torch.{name}(): inferred dtype {cpp_name(inferred)} can't be "
            f"safely cast to passed dtype {scalar_type(dtype)}"
        )
    return dtype


def _complex_row(operator, ends, given, dtype, kwargs) -> Tensor:
    """From the parts, each of which is evenly spaced if the whole is."""
    ends = [complex(end) for end in ends]
    kwargs["dtype"] = dtype.to_real()
    real = ops.linspace(*(end.real for end in ends), *given, **kwargs)
    imag = ops.linspace(*(end.imag for end in ends), *given, **kwargs)
    return ops.complex(real, imag)


def _number(end):
    """Number that a tensor without dimensions holds: `out` has any dtype."""
    scalar = isinstance(end, Tensor) and end.dim() == 0
    return end.item() if scalar and end.device.type != "meta" else end


def _is_complex(end) -> bool:
    return end.is_complex() if isinstance(end, Tensor) else type(end) is complex


_overridable(globals(), __all__, "hotaru")
