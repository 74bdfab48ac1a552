"""Rules of dtypes: kinds of numbers, and the dtypes of results."""

from __future__ import annotations

import enum
from numbers import Number as _AnyNumber

from .. import _C, promote_types, result_type
from .._C import Tensor
from .._symbolic import SymBool, SymFloat, SymInt

Number = (bool, int, float, complex, SymInt, SymFloat, SymBool)
IntLike = (int, SymInt)
FloatLike = (float, SymFloat)
BoolLike = (bool, SymBool)
TensorLike = Tensor

_INTEGERS = frozenset(
    getattr(_C, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
)
_ORDER = (bool, int, float, complex)
# Dtypes by how they are ordered, those of a tuple beside each other.
_RISING = (
    (_C.bool,),
    (_C.uint8, _C.int8),
    (_C.int16,),
    (_C.int32,),
    (_C.int64,),
    (_C.float16, _C.bfloat16),
    (_C.float32,),
    (_C.float64,),
    (_C.complex32,),
    (_C.complex64,),
    (_C.complex128,),
)
_COMPUTED = {
    _C.bfloat16: _C.float32,
    _C.float16: _C.float32,
    _C.complex32: _C.complex64,
}
_SUMMED = {
    _C.bfloat16: _C.float64,
    _C.float16: _C.float64,
    _C.float32: _C.float64,
    _C.complex32: _C.complex128,
    _C.complex64: _C.complex128,
}


class ELEMENTWISE_TYPE_PROMOTION_KIND(enum.Enum):  # noqa: N801
    """How an elementwise operator's result dtype follows from its operands'."""

    DEFAULT = (0,)
    NO_OPMATH = (1,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)
    BOOL_TO_LONG = (5,)


class REDUCTION_OUTPUT_TYPE_KIND(enum.Enum):  # noqa: N801
    """How a reduction's result dtype follows from its operand's."""

    SAME = (0,)
    COMPLEX_TO_FLOAT = (1,)
    KEEP_PROMOTED_TYPE = (2,)
    ALWAYS_BOOL = (3,)


class RETURN_TYPE(enum.Enum):  # noqa: N801
    """Kinds of results of operators."""

    NEW = (0,)
    VIEW = (1,)
    INPLACE = (2,)
    NONE = (3,)


def _check_dtype(dtype) -> None:
    if not isinstance(dtype, _C.dtype):
        raise AssertionError(f"Expected torch.dtype, got {type(dtype)}")


def is_boolean_dtype(dtype) -> bool:
    """True of bool."""
    _check_dtype(dtype)
    return dtype is _C.bool


def is_integer_dtype(dtype) -> bool:
    """True of integers, of bool not."""
    _check_dtype(dtype)
    return dtype in _INTEGERS


def is_low_precision_dtype(dtype) -> bool:
    """True of floats of 16 bits and complex numbers of such."""
    _check_dtype(dtype)
    return dtype in _COMPUTED


def is_float_dtype(dtype) -> bool:
    """True of real floating-point numbers."""
    _check_dtype(dtype)
    return dtype.is_floating_point


def is_complex_dtype(dtype) -> bool:
    """True of complex numbers."""
    _check_dtype(dtype)
    return dtype.is_complex


def is_grad_dtype(dtype) -> bool:
    """True if tensors of it may require gradients."""
    return dtype.is_floating_point or dtype.is_complex


def corresponding_real_dtype(dtype):
    """The dtype of the parts of a complex one."""
    return dtype.to_real()


def corresponding_complex_dtype(dtype):
    """The complex dtype whose parts are of a real one."""
    return dtype.to_complex()


def dtype_to_type(dtype) -> type:
    """The Python type of an element: bool, int, float or complex."""
    if dtype == _C.bool:
        return bool
    if dtype.is_complex:
        return complex
    return float if dtype.is_floating_point else int


def dtype_to_type_ctor(dtype):
    """Makes Python's number of an element's kind."""
    _check_dtype(dtype)
    return dtype_to_type(dtype)


def type_to_dtype(typ: type):
    """The dtype of a tensor of a Python number of that type."""
    if not isinstance(typ, type):
        raise AssertionError(f"Expected type, got {type(typ)}")
    if typ in (bool, SymBool):
        return _C.bool
    if typ in (int, SymInt):
        return _C.int64
    default = _C.get_default_dtype()
    if typ in (float, SymFloat):
        return default
    if typ is complex:
        return default.to_complex()
    raise ValueError(f"Invalid type {typ}!")


def get_dtype(x):
    """The dtype of a tensor, or of a number's tensor."""
    return x.dtype if isinstance(x, Tensor) else type_to_dtype(type(x))


def number_type(x) -> type:
    """The Python type of a number, of a symbolic one the plain type."""
    symbolic = {SymInt: int, SymFloat: float, SymBool: bool}
    return symbolic.get(type(x), type(x))


def _ordered(*types) -> tuple:
    found = tuple(
        {SymInt: int, SymFloat: float, SymBool: bool}.get(t, t) for t in types
    )
    if any(t not in _ORDER for t in found):
        raise RuntimeError(
            f"Expected builtin numeric types, found {found[0]}, {found[1]}"
        )
    return found


def get_higher_type(a: type, b: type) -> type:
    """The later one of two in bool, int, float, complex."""
    return max(_ordered(a, b), key=_ORDER.index)


def is_weakly_lesser_type(a: type, b: type) -> bool:
    """True if `a` is not behind `b` in bool, int, float, complex."""
    a, b = _ordered(a, b)
    return _ORDER.index(a) <= _ORDER.index(b)


def _dtype_of(x):
    if x is None or isinstance(x, _C.dtype):
        return x
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, Number):
        return type_to_dtype(type(x))
    raise AssertionError(
        f"expected None, torch.dtype, TensorLike, or Number, got {type(x)}"
    )


def get_higher_dtype(a, b):
    """The lowest dtype that is not below two others; None is below all."""
    a, b = _dtype_of(a), _dtype_of(b)
    if a is b or b is None:
        return a
    if a is None:
        return b
    for place, dtypes in enumerate(_RISING):
        if a in dtypes and b in dtypes:
            return _RISING[place + 1][0]
        if a in dtypes:
            return b
        if b in dtypes:
            return a
    raise RuntimeError(f"no order of {a} and {b}")


def can_safe_cast_to(*, cast_to, cast_from) -> bool:
    """True if the kind of numbers that is cast to has those of the other."""
    return is_weakly_lesser_type(dtype_to_type(cast_from), dtype_to_type(cast_to))


def get_computation_dtype(dtype):
    """The dtype that elementwise operators compute in."""
    return _COMPUTED.get(dtype, dtype)


def get_acc_type(dtype, device):
    """The dtype that sums are computed in on a device."""
    table = _SUMMED if _C.device(device).type == "cpu" else _COMPUTED
    return table.get(dtype, dtype)


def check_same_dtype(*args) -> None:
    """RuntimeError unless all tensors among the arguments are of one dtype;
    the others are numbers.
    """
    first = None
    for arg in args:
        if isinstance(arg, Number):
            continue
        if not isinstance(arg, Tensor):
            raise RuntimeError(
                f"Unexpected type when checking for same dtype, {type(arg)}!"
            )
        first = arg.dtype if first is None else first
        if arg.dtype is not first:
            raise RuntimeError(
                f"Tensor with dtype {arg.dtype} is not the expected dtype of {first}!"
            )


def _promoted(args):
    """The dtype that operands promote to: tensors with dimensions before those
    without, these before numbers.
    """
    groups: list = [None, None, None]
    for arg in args:
        if not isinstance(arg, (Tensor, _AnyNumber, *Number)):
            raise ValueError(
                f"Unexpected type {type(arg)} when computing elementwise type "
                "promotion!"
            )
        if isinstance(arg, Tensor):
            place, dtype = (0 if arg.dim() else 1), arg.dtype
        else:
            place, dtype = 2, type_to_dtype(number_type(arg))
        known = groups[place]
        groups[place] = dtype if known is None else promote_types(known, dtype)
    found = None
    for place, dtype in enumerate(groups):
        if dtype is None:
            continue
        if found is None:
            found = _C.ops.empty([1] if place == 0 else [], dtype=dtype)
            continue
        if place == 2:
            other = {bool: True, int: 1, float: 1.0, complex: 1j}[dtype_to_type(dtype)]
        else:
            other = _C.ops.empty([], dtype=dtype)
        found = found.to(result_type(found, other))
    return found.dtype


def elementwise_dtypes(*_args, type_promotion_kind):
    """The dtype in which an elementwise operator computes, and its result's."""
    kinds = ELEMENTWISE_TYPE_PROMOTION_KIND
    result = _promoted([arg for arg in _args if arg is not None])
    if type_promotion_kind is kinds.INT_TO_FLOAT and not is_grad_dtype(result):
        result = _C.get_default_dtype()
    if type_promotion_kind is kinds.BOOL_TO_LONG and result is _C.bool:
        return _C.int64, _C.int64
    if type_promotion_kind is kinds.NO_OPMATH:
        return result, result
    computed = get_computation_dtype(result)
    if type_promotion_kind is kinds.COMPLEX_TO_FLOAT and result.is_complex:
        result = result.to_real()
    if type_promotion_kind is kinds.ALWAYS_BOOL:
        result = _C.bool
    if type_promotion_kind not in kinds:
        raise ValueError(f"Unknown type promotion kind {type_promotion_kind}")
    return computed, result


def reduction_dtypes(arg, output_dtype_kind, dtype=None):
    """The dtype in which a reduction computes, and its result's: None where
    that is what it computed in.
    """
    kinds = REDUCTION_OUTPUT_TYPE_KIND
    given = arg.dtype if dtype is None else dtype
    computed = get_computation_dtype(given)
    if output_dtype_kind is kinds.KEEP_PROMOTED_TYPE:
        return computed, None
    if output_dtype_kind is kinds.ALWAYS_BOOL:
        return computed, _C.bool
    if output_dtype_kind is kinds.COMPLEX_TO_FLOAT and given.is_complex:
        return computed, given.to_real()
    return computed, given


def dtype_or_default(dtype):
    """The dtype; the default one in the place of None."""
    return _C.get_default_dtype() if dtype is None else dtype
