"""Arguments of a call, as the schema wants them."""

from __future__ import annotations

import collections.abc
import operator as _operator

from .. import Generator, Stream, Tensor, device, dtype
from .. import _types as t
from .._function_schema import Argument, FunctionSchema

_CAST = (
    "Unable to cast Python instance of type {} to C++ type '?' (#define "
    "PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
)


class MismatchError(RuntimeError):
    """The arguments are not those of the schema."""


class _RefusedError(Exception):
    """A value of another type than the schema's."""


def _refuse(value):
    raise _RefusedError(_CAST.format(type(value)))


def _tensor(value):
    if value is None or isinstance(value, Tensor):
        return value
    raise _RefusedError(f"Unable to cast {value!r} to Tensor")


def _int(value):
    if isinstance(value, dtype):
        return value
    if isinstance(value, (float, complex, str)) or value is None:
        _refuse(value)
    if isinstance(value, bool):
        return int(value)
    try:
        return _operator.index(value)
    except (TypeError, RuntimeError):
        _refuse(value)


def _float(value):
    if isinstance(value, (float, int)):
        return float(value)
    if isinstance(value, Tensor) and value.numel() == 1:
        return float(value)
    if hasattr(value, "__float__") and not isinstance(value, (str, Tensor)):
        return float(value)
    _refuse(value)


def _number(value):
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, Tensor) and value.dim() == 0:
        return value.item()
    if hasattr(value, "item") and not isinstance(value, Tensor):
        return value.item()
    _refuse(value)


def _bool(value):
    return value if isinstance(value, bool) else _refuse(value)


def _complex(value):
    if isinstance(value, (int, float, complex)):
        return complex(value)
    _refuse(value)


def _str(value):
    return value if isinstance(value, str) else _refuse(value)


def _device(value):
    if isinstance(value, device):
        return value
    return device(value) if isinstance(value, str) else _refuse(value)


def _instance(kind):
    def check(value):
        return value if isinstance(value, kind) else _refuse(value)

    return check


_SINGLE = {
    t.TensorType: _tensor,
    t.IntType: _int,
    t.FloatType: _float,
    t.NumberType: _number,
    t.BoolType: _bool,
    t.ComplexType: _complex,
    t.StringType: _str,
    t.DeviceObjType: _device,
    t.GeneratorType: _instance(Generator),
    t.StreamObjType: _instance(Stream),
}


def _converted(value, kind: t.Type, size: int | None = None):
    """The value as one of the type; _RefusedError where it is none."""
    single = _SINGLE.get(type(kind))
    if single is not None:
        return single(value)
    if isinstance(kind, t.OptionalType):
        if value is None:
            return None
        return _converted(value, kind.getElementType(), size)
    if isinstance(kind, t.ListType):
        return _list(value, kind.getElementType(), size)
    if isinstance(kind, t.NoneType) and value is not None:
        _refuse(value)
    if isinstance(kind, t.TupleType):
        if not isinstance(value, tuple) or len(value) != len(kind.elements()):
            _refuse(value)
        return tuple(map(_converted, value, kind.elements()))
    if isinstance(kind, t.DictType):
        return value if isinstance(value, dict) else _refuse(value)
    return value


def _list(value, element: t.Type, size: int | None) -> list:
    of_tensors = isinstance(element, (t.TensorType, t.OptionalType))
    if of_tensors and isinstance(value, Tensor) and value.dim():
        value = list(value)
    if size is not None and isinstance(value, (int, float)):
        return [_converted(value, element)] * size
    if isinstance(value, (str, Tensor)) or not isinstance(
        value, collections.abc.Sequence
    ):
        _refuse(value)
    try:
        return [_converted(v, element) for v in value]
    except _RefusedError:
        if isinstance(element, (t.TensorType, t.OptionalType)):
            raise
        _refuse(value)


def convert(schema: FunctionSchema, argument: Argument, value, position: int):
    """The value of one argument; MismatchError where it is of another type."""
    try:
        if _named(argument) is not None:
            return _named_value(argument, value)
        return _converted(value, argument.type, argument.N)
    except _RefusedError as refused:
        name = schema.name
        raise MismatchError(
            f"{name}() Expected a value of type '{argument.type}' for argument "
            f"'{argument.name}' but instead found type "
            f"'{type(value).__name__}'.\nPosition: {position}\nValue: "
            f"{value!r}\nDeclaration: {schema}\nCast error details: {refused}"
        ) from None


def _named(argument: Argument) -> str | None:
    """The name "ScalarType" for an int that means a dtype, and the like."""
    real = argument.real_type
    while isinstance(real, t.OptionalType):
        real = real.getElementType()
    return real.str() if isinstance(real, t.RealType) else None


def _named_value(argument: Argument, value):
    from .. import layout, memory_format

    kinds = {"ScalarType": dtype, "Layout": layout, "MemoryFormat": memory_format}
    name = _named(argument)
    if isinstance(value, kinds[name]):
        return value
    if value is None and isinstance(argument.type, t.OptionalType):
        return None
    number = _int(value)
    return dtype_of(number) if name == "ScalarType" else number


def dtype_of(number: int) -> dtype:
    """The dtype that a ScalarType of the schema is."""
    from .. import _C

    for value in vars(_C).values():
        if isinstance(value, dtype) and _C._dtype_number(value) == number:
            return value
    raise _RefusedError(f"no dtype has the number {number}")


def missing(operator: str, name: str, schema) -> str:
    """Text for where an argument has no value."""
    return f"{operator}() is missing value for argument '{name}'. Declaration: {schema}"


def unknown(operator: str, name: str, schema) -> str:
    """Text about a keyword that is no argument's."""
    return (
        f"Unknown keyword argument '{name}' for operator '{operator}'. Schema: {schema}"
    )


def bind(schema: FunctionSchema, args: tuple, kwargs: dict):
    """(positional, keyword only): all arguments of a call, without those at
    the end that are their defaults.

    MismatchError, a RuntimeError, where they do not fit.
    """
    arguments = schema.arguments
    _count(schema, args)
    left = dict(kwargs)
    values, given = {}, {}
    for i, argument in enumerate(arguments):
        name = argument.name
        if i < len(args):
            if name in left:
                raise MismatchError(
                    f"Argument '{name}' specified both as positional and "
                    f"keyword argument. Schema: {schema}"
                )
            value = args[i]
        elif name in left:
            value = left.pop(name)
        elif argument.has_default_value():
            values[name] = argument.default_value
            continue
        else:
            raise MismatchError(missing(schema.name, name, schema))
        values[name] = given[name] = convert(schema, argument, value, i)
    for name in left:
        raise MismatchError(unknown(schema.name, name, schema))
    return _trimmed(schema, values, given)


def _count(schema: FunctionSchema, args: tuple) -> None:
    arguments = schema.arguments
    positional = sum(not a.kwarg_only for a in arguments)
    if len(args) > len(arguments):
        raise MismatchError(
            f"{schema.name}() expected at most {len(arguments)} argument(s) "
            f"but received {len(args)} argument(s). Declaration: {schema}"
        )
    if len(args) > positional:
        raise MismatchError(
            f"{schema.name}() takes {positional} positional argument(s) but "
            f"{len(args)} was/were given.  Declaration: {schema}"
        )


def _is_default(argument: Argument, value) -> bool:
    default = argument.default_value
    return (
        argument.has_default_value()
        and not isinstance(value, Tensor)
        and type(value) is type(default)
        and value == default
    )


def _trimmed(schema: FunctionSchema, values: dict, given: dict):
    positional, keyword = [], {}
    for argument in schema.arguments:
        if not argument.kwarg_only:
            positional.append(argument)
        elif argument.name in given:
            value = given[argument.name]
            if not _is_default(argument, value):
                keyword[argument.name] = value
    while positional and (
        positional[-1].name not in given
        or _is_default(positional[-1], given[positional[-1].name])
    ):
        positional.pop()
    return tuple(_shown(a, values[a.name]) for a in positional), keyword


def _shown(argument: Argument, value):
    """A default of the schema as a kernel gets it."""
    if type(value) is int and _named(argument) == "ScalarType":
        return dtype_of(value)
    return value


def as_called(schema: FunctionSchema, values: tuple):
    """(positional, keyword only) of all values in the schema's order, without
    those at the end that are their defaults.
    """
    given = {
        argument.name: _shown(argument, value)
        for argument, value in zip(schema.arguments, values)
    }
    return _trimmed(schema, given, given)


def filled(schema: FunctionSchema, args: tuple, kwargs: dict):
    """The arguments with the defaults that `bind` left out."""
    args, kwargs = list(args), dict(kwargs)
    for i, argument in enumerate(schema.arguments):
        if argument.kwarg_only:
            if argument.name not in kwargs:
                kwargs[argument.name] = _shown(argument, argument.default_value)
        elif i >= len(args):
            args.append(_shown(argument, argument.default_value))
    return tuple(args), kwargs


def results(schema: FunctionSchema, value):
    """Returns what a kernel returned, as the schema says; RuntimeError else."""
    returns = schema.returns
    try:
        if not returns:
            if value is not None:
                raise RuntimeError(
                    f"Expected PythonKernelHolder for {schema.name} to return "
                    "None but it returned something else instead."
                )
            return None
        if len(returns) == 1:
            return _returned(value, returns[0])
        if not isinstance(value, (tuple, list)) or len(value) != len(returns):
            raise RuntimeError(
                f"Expected {schema.name} to return a tuple of {len(returns)} "
                f"values, as its schema says, but it returned {value!r}"
            )
        return tuple(map(_returned, value, returns))
    except _RefusedError as refused:
        raise RuntimeError(str(refused)) from None


def _returned(value, argument: Argument):
    if _named(argument) is not None:
        return _named_value(argument, value)
    if type(argument.type) is t.ListType and isinstance(value, tuple):
        value = list(value)
    return _converted(value, argument.type, argument.N)


def tensors_in(args, kwargs) -> list[Tensor]:
    """Tensors among the arguments and in lists of them."""
    found = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [v for v in value if isinstance(v, Tensor)]
    return found
