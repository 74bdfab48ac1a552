"""An operator's inputs as its schema has them, defaults included."""

from __future__ import annotations

import functools

from .. import _C
from .. import _types as t
from .._C import Tensor
from .._function_schema import FunctionSchema, parse_schema
from ._geometry import Given

# Their numbers become tensors before they are inputs.
_WRAPPED = frozenset(("add", "sub", "mul", "div", "floor_divide", "true_divide"))
# Called without further arguments, they are of the last of their schemas.
_OF_THE_LAST = frozenset(("var", "std", "var_mean", "std_mean"))
# Other names of arguments, as numpy has them.
_RENAMED = {"axis": "dim", "keepdims": "keepdim", "input": "self", "x": "self"}
# They have no meaning here; profiles have what PyTorch passes.
_ALWAYS = {"cudnn_enable": True, "cudnn_enabled": True}
_MEMORY_FORMATS = (
    "contiguous_format",
    "preserve_format",
    "channels_last",
    "channels_last_3d",
)


class _UnfitError(Exception):
    """A value is none of the schema's type."""


def kept(value):
    """Returns what a profile keeps of an argument; no tensor stays alive."""
    if isinstance(value, Tensor):
        shape = ()
        try:
            shape = tuple(value.shape)
            stride, offset = tuple(value.stride()), value.storage_offset()
        except (RuntimeError, NotImplementedError):
            return Given(shape, None, value.dtype)  # nested or sparse
        return Given(shape, stride, value.dtype, offset)
    if isinstance(value, (list, tuple)):
        return tuple(map(kept, value))
    return value


def bound(name: str, args: tuple, kwargs: dict) -> list | None:
    """The values of an operator's arguments, in the schema's order.

    Args:
        args, kwargs: what `kept` gives of a call's.

    None where no schema is like that.
    """
    schemas = _schemas(name)
    if name in _OF_THE_LAST and len(args) == 1 and not kwargs:
        schemas = schemas[-1:]
    for schema in schemas:
        try:
            return _bound(schema, name.rstrip("_"), args, dict(kwargs))
        except _UnfitError:
            continue
    return None


@functools.cache
def _schemas(name: str) -> list[FunctionSchema]:
    try:
        return [parse_schema(f"aten::{x}") for x in _C._op_schemas(name)]
    except RuntimeError:
        return []  # it is none of the operators


def _bound(schema, name: str, args: tuple, kwargs: dict) -> list:
    out = kwargs.pop("out", None)
    kwargs.pop("requires_grad", None)
    arguments = schema.arguments
    names = {argument.name for argument in arguments}
    for given, real in _RENAMED.items():
        if given in kwargs and given not in names:
            kwargs[real] = kwargs.pop(given)
    if kwargs.keys() - names:
        raise _UnfitError
    args, values = list(args), []
    for i, argument in enumerate(arguments):
        if args and not argument.kwarg_only:
            if _gathers(argument, i, args):
                value, args = tuple(args), []
            else:
                value = args.pop(0)
        elif argument.name in kwargs:
            value = kwargs[argument.name]
        elif argument.has_default_value():
            values.append(_default(argument))
            continue
        else:
            raise _UnfitError
        number = isinstance(value, (int, float, complex))
        if number and name in _WRAPPED:
            value = _wrapped(value, argument)
        values.append(_fit(value, argument.type, argument))
    if args:
        raise _UnfitError
    for i, argument in enumerate(arguments):
        if argument.name in _ALWAYS:
            values[i] = True
    return values if out is None else [*values, out]


def _wrapped(value, argument):
    return Given((), ()) if isinstance(argument.type, t.TensorType) else value


def _gathers(argument, at: int, args: list) -> bool:
    """Tells whether the numbers that are left make one list: x.view(2, 3)."""
    kind = argument.type
    return (
        isinstance(kind, t.ListType)
        and isinstance(kind.getElementType(), t.IntType)
        and argument.N is None
        and at < 2
        and all(type(value) is int for value in args)
    )


def _default(argument):
    if argument.name == "pin_memory":
        return False  # Python's calls say so
    value = argument.default_value
    if argument.N and isinstance(value, int):
        return (value,) * argument.N
    return tuple(value) if isinstance(value, list) else value


def _fit(value, kind: t.Type, argument):
    """The value as one of the type."""
    if isinstance(kind, t.OptionalType):
        if value is None:
            return None
        return _fit(value, kind.getElementType(), argument)
    if isinstance(kind, t.ListType):
        return _list(value, kind.getElementType(), argument)
    if isinstance(kind, t.TensorType):
        return _checked(value, Given)
    if isinstance(kind, t.IntType):
        return _int(value, _real(argument))
    if isinstance(kind, t.FloatType):
        return float(_checked(value, (int, float)))
    if isinstance(kind, t.NumberType):
        return _checked(value, (int, float, complex))
    if isinstance(kind, t.BoolType):
        return _checked(value, bool)
    if isinstance(kind, t.StringType):
        return _checked(value, str)
    return value


def _checked(value, kinds):
    if isinstance(value, kinds):
        return value
    raise _UnfitError


def _list(value, element: t.Type, argument) -> tuple:
    if argument.N and isinstance(value, (int, float)):
        value = (value,) * argument.N
    return tuple(_fit(v, element, argument) for v in _checked(value, tuple))


def _real(argument) -> str | None:
    """The name "ScalarType" for an int that means a dtype, and the like."""
    kind = argument.real_type
    while isinstance(kind, t.OptionalType):
        kind = kind.getElementType()
    return kind.str() if isinstance(kind, t.RealType) else None


def _int(value, real: str | None):
    if real == "ScalarType":
        return _C._dtype_number(_checked(value, _C.dtype))
    if real == "Layout":
        return 0 if value is _C.strided else None
    if real == "MemoryFormat":
        name = str(value).removeprefix("torch.")
        return _MEMORY_FORMATS.index(name) if name in _MEMORY_FORMATS else None
    if isinstance(value, bool):
        raise _UnfitError
    return _checked(value, int)


def shapes_of(inputs) -> list:
    """Shapes of the inputs that are tensors, [] in the places of others."""
    return [list(i.shape) if isinstance(i, Given) else [] for i in inputs]


def values_of(inputs) -> list:
    """Values of numbers, truth values and lists of them, None for others."""
    return [_plain(value) for value in inputs]


def _plain(value):
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, Given) or not isinstance(value, (list, tuple)):
        return None
    numbers = all(isinstance(item, (int, float)) for item in value)
    return list(value) if numbers else None
