"""Pairs of single things that are compared: None, bool, numbers, tensors.

Each `*_leaf(actual, expected, options)` returns a function that compares and
raises MismatchError, or None where the two are of another kind.
"""

from __future__ import annotations

import cmath
import sys
from collections.abc import Callable
from dataclasses import dataclass

from .. import _C
from .._C import Tensor, ops
from .._functions import as_tensor
from . import _mismatch as mismatch
from ._mismatch import MismatchError
from ._parts import Part, parts

# The relative and absolute tolerance; of other dtypes both are 0.
_TOLERANCES = {
    _C.float16: (1e-3, 1e-5),
    _C.bfloat16: (1.6e-2, 1e-5),
    _C.float32: (1.3e-6, 1e-5),
    _C.float64: (1e-7, 1e-7),
    _C.complex32: (1e-3, 1e-5),
    _C.complex64: (1.3e-6, 1e-5),
    _C.complex128: (1e-7, 1e-7),
}
# Unsigned dtypes that promotion takes none of.
_SIGNED = dict.fromkeys((_C.uint16, _C.uint32, _C.uint64), _C.int64)
_DTYPES = {int: _C.int64, float: _C.float64, complex: _C.complex128}

Comparison = Callable[[], None]


@dataclass(frozen=True)
class Options:
    """Options of `assert_close`, with their meaning there."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, *dtypes) -> tuple[float, float]:
        """The given ones, or the loosest of the dtypes'."""
        if (self.rtol is None) != (self.atol is None):
            lacking = "rtol" if self.rtol is None else "atol"
            raise MismatchError(
                ValueError,
                "Both 'rtol' and 'atol' must be either specified or omitted, "
                f"but got no {lacking}.",
            )
        if self.rtol is not None:
            return self.rtol, self.atol
        return default_tolerances(*dtypes)


def default_tolerances(*dtypes, table=_TOLERANCES) -> tuple[float, float]:
    """The loosest relative and absolute tolerance of some dtypes."""
    found = [table.get(d, (0.0, 0.0)) for d in dtypes]
    return max(r for r, _ in found), max(a for _, a in found)


def not_compared(actual, expected) -> str:
    """The text of an error for two things that nothing compares."""
    return (
        "No comparison pair was able to handle inputs of type "
        f"{type(actual)} and {type(expected)}."
    )


def leaf(actual, expected, options: Options) -> Comparison:
    """How to compare the two; MismatchError of TypeError where nothing can."""
    for kind in (none_leaf, bool_leaf, number_leaf, tensor_leaf):
        compare = kind(actual, expected, options)
        if compare is not None:
            return compare
    raise MismatchError(TypeError, not_compared(actual, expected))


def none_leaf(actual, expected, options: Options) -> Comparison | None:
    if actual is not None and expected is not None:
        return None

    def compare() -> None:
        if actual is not expected:
            raise MismatchError(
                AssertionError, f"None mismatch: {actual} is not {expected}"
            )

    return compare


def bool_leaf(actual, expected, options: Options) -> Comparison | None:
    kinds = (bool, *numpy_kinds("bool_"))
    if not (isinstance(actual, kinds) and isinstance(expected, kinds)):
        return None

    def compare() -> None:
        if bool(actual) is not bool(expected):
            raise MismatchError(
                AssertionError,
                f"Booleans mismatch: {bool(actual)} is not {bool(expected)}",
            )

    return compare


def number_leaf(actual, expected, options: Options) -> Comparison | None:
    kinds = (*_DTYPES, *numpy_kinds("number"))
    if not (isinstance(actual, kinds) and isinstance(expected, kinds)):
        return None
    actual, expected = (
        x.item() if isinstance(x, numpy_kinds("number")) else x
        for x in (actual, expected)
    )
    rtol, atol = options.tolerances(_dtype_of(actual), _dtype_of(expected))

    def compare() -> None:
        if options.check_dtype and type(actual) is not type(expected):
            raise MismatchError(
                AssertionError,
                f"The (d)types do not match: {type(actual)} != {type(expected)}.",
            )
        if not near(actual, expected, rtol, atol, options.equal_nan):
            text = mismatch.numbers(actual, expected, rtol, atol)
            raise MismatchError(AssertionError, text)

    return compare


def _dtype_of(number):
    return next(d for t, d in _DTYPES.items() if isinstance(number, t))


def near(actual, expected, rtol, atol, equal_nan) -> bool:
    """Closeness of two numbers."""
    if actual == expected:
        return True
    if equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
        return True
    apart = abs(actual - expected)
    return cmath.isfinite(apart) and apart <= atol + rtol * abs(expected)


def numpy_kinds(name: str) -> tuple[type, ...]:
    """The class of numpy of that name, where the program uses it."""
    numpy = sys.modules.get("numpy")
    return (getattr(numpy, name),) if hasattr(numpy, name) else ()


def tensor_leaf(actual, expected, options: Options) -> Comparison | None:
    same = type(actual) is type(expected)
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if not (same or (related and options.allow_subclasses)):
        return None
    try:
        actual, expected = (
            x if isinstance(x, Tensor) else as_tensor(x) for x in (actual, expected)
        )
    except Exception:  # whatever an object's protocols raise: no tensor
        return None
    # Numbers that quantised ones stand for are of float32.
    dtypes = (_C.float32 if x.is_quantized else x.dtype for x in (actual, expected))
    rtol, atol = options.tolerances(*dtypes)
    return lambda: _compare(actual, expected, rtol, atol, options)


def _compare(actual, expected, rtol, atol, options: Options) -> None:
    check_attributes(actual, expected, options)
    if "meta" in (actual.device.type, expected.device.type):
        return
    compare_values(*alike(actual, expected), rtol, atol, options.equal_nan)


def alike(actual: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
    """The two on one device, of one dtype and layout."""
    if actual.device != expected.device:
        actual, expected = actual.cpu(), expected.cpu()
    if actual.dtype != expected.dtype:
        dtypes = (_SIGNED.get(x.dtype, x.dtype) for x in (actual, expected))
        dtype = _C.promote_types(*dtypes)
        actual, expected = actual.to(dtype), expected.to(dtype)
    if actual.layout is not expected.layout:
        actual, expected = (
            x if x.layout is _C.strided else x.to_dense() for x in (actual, expected)
        )
    return actual, expected


def compare_values(
    actual: Tensor, expected: Tensor, rtol: float, atol: float, equal_nan: bool
) -> None:
    """Raises MismatchError unless two alike tensors' elements are close."""
    for part in parts(actual, expected):
        _compare_part(part, rtol, atol, equal_nan)


def _compare_part(part: Part, rtol, atol, equal_nan: bool) -> None:
    name, actual, expected, exact = part
    if exact:
        rtol = atol = 0
    close = ops.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if bool(close.all()):
        return
    if actual.dim() == 0:
        text = mismatch.numbers(actual.item(), expected.item(), rtol, atol)
    else:
        text = mismatch.tensors(actual, expected, close, rtol, atol, name)
    raise MismatchError(AssertionError, text)


def check_attributes(actual, expected, options: Options) -> None:
    """Raises MismatchError unless shapes and what `options` names are the same."""

    def check(name: str, first, second) -> None:
        if first != second:
            raise MismatchError(
                AssertionError,
                f"The values for attribute '{name}' do not match: {first} != {second}.",
            )

    check("shape", actual.shape, expected.shape)
    check("is_quantized", actual.is_quantized, expected.is_quantized)
    if actual.is_quantized:
        check("qscheme()", actual.qscheme(), expected.qscheme())
    if options.check_layout:
        check("layout", actual.layout, expected.layout)
    strided = actual.layout is expected.layout is _C.strided
    if options.check_stride and strided:
        check("stride()", actual.stride(), expected.stride())
    if options.check_device:
        check("device", actual.device, expected.device)
    if options.check_dtype:
        check("dtype", actual.dtype, expected.dtype)
