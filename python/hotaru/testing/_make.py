"""Tensors of random values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from .. import _C
from .._C import Tensor, ops
from .._extension.dtypes import finfo, iinfo

_SIGNED = (_C.int8, _C.int16, _C.int32, _C.int64)
_WHOLE = (_C.bool, _C.uint8, _C.uint16, _C.uint32, _C.uint64, *_SIGNED)
_REAL = (_C.float16, _C.bfloat16, _C.float32, _C.float64)
_COMPLEX = (_C.complex32, _C.complex64, _C.complex128)
# Drawn as float32.
_OF_8_BITS = (_C.float8_e4m3fn, _C.float8_e5m2, _C.float8_e4m3fnuz, _C.float8_e5m2fnuz)


def make_tensor(
    *shape: int | Sequence[int],
    dtype: _C.dtype,
    device: str | _C.device,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: _C.memory_format | None = None,
) -> Tensor:
    """A tensor of values drawn evenly from [low, high).

    The shape is a sequence or several numbers. By default bounds are 0 and 2
    for bool, 0 and 10 for unsigned, -9 and 10 for other integers, -9 and 9 for
    the rest (of complex numbers for both parts); given ones are brought into the
    dtype's range. `noncontiguous` takes every other element of a tensor twice
    as wide, where there are two elements at least; `exclude_zero` writes the
    dtype's smallest normal number, or 1, where a 0 was drawn.

    Raises ValueError for bounds that leave nothing, for a gradient of integers
    and for `noncontiguous` with a memory format; TypeError for other dtypes.
    """
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = shape[0]
    shape = tuple(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually "
            f"exclusive, but got {noncontiguous=} and {memory_format=}"
        )
    if requires_grad and dtype in _WHOLE:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral "
            f"dtypes, but got {dtype=}"
        )
    apart = noncontiguous and math.prod(shape) > 1
    drawn = (*shape[:-1], 2 * shape[-1]) if apart else shape
    result = _draw(drawn, dtype, device, low, high)
    if apart:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = 1 if dtype in _WHOLE else finfo(dtype).tiny
    differentiable = dtype not in (*_WHOLE, *_OF_8_BITS)
    return result.requires_grad_(requires_grad) if differentiable else result


def _draw(shape, dtype, device, low, high) -> Tensor:
    if dtype in _WHOLE:
        low, high = _bounds(low, high, dtype, *_whole_range(dtype))
        # Both are rounded up: of the upper one that is what it excludes.
        low, high = math.ceil(low), math.ceil(high)
        return ops.randint(low, high, shape, device=device, dtype=dtype)
    if dtype not in (*_REAL, *_COMPLEX, *_OF_8_BITS):
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by "
            "torch.testing.make_tensor(). To request support, file an issue "
            "at: https://github.com/pytorch/pytorch/issues"
        )
    limits = finfo(dtype)
    low, high = _bounds(low, high, dtype, limits.min, limits.max, -9, 9)
    narrow = dtype in _OF_8_BITS
    made = _C.float32 if narrow else dtype
    result = ops.empty(shape, device=device, dtype=made)
    parts = ops.view_as_real(result) if dtype in _COMPLEX else result
    # A range that the dtype cannot hold is drawn at half its size.
    if high - low >= finfo(made).max:
        parts.uniform_(low / 2, high / 2).mul_(2)
    else:
        parts.uniform_(low, high)
    return result.to(dtype) if narrow else result


def _whole_range(dtype) -> tuple[int, int, int, int]:
    """The lowest value, what is just too high, and the default bounds."""
    if dtype is _C.bool:
        return 0, 2, 0, 2
    limits = iinfo(dtype)
    # No draw can exclude 2**63.
    beyond = limits.max + (dtype is not _C.int64)
    return limits.min, beyond, -9, 10


def _bounds(low, high, dtype, lowest, highest, usual_low, usual_high):
    """The bounds of the draw, within [lowest, highest]."""
    low = usual_low if low is None else low
    high = usual_high if high is None else high
    if any(isinstance(x, float) and math.isnan(x) for x in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and dtype not in _WHOLE:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating "
            "or complex types is deprecated since 2.1 and will be removed in "
            "2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < lowest or low >= highest:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, "
            f"{high}), but {dtype} only supports [{lowest}, {highest})"
        )
    return (min(max(x, lowest), highest) for x in (low, high))
