"""Meanings of names in the text of archives.

An operator of plain values is the native one, compiled for the types of its
arguments. Python answers for tensors of other kinds, for lists that a program
changes, and for what only Python has.
"""

from __future__ import annotations

import ast
import math
import operator
import warnings

import hotaru

from ... import _C
from ..._late import lent
from ..._onednn import functions as _onednn
from ..._quantized import create as _create
from ..._quantized.dtypes import qint8, qint32, quint2x4, quint4x2, quint8
from ..._quantized.packed import CLASSES, Packed
from ..._quantized.packed_operators import ATEN, OPERATORS
from ..._quantized.tensor import QuantizedTensor
from .._scripter import Scripter
from .pickles import type_text, typed

# Numbers that files have for dtypes that the native side does not know.
QUANTIZED_DTYPES = {12: qint8, 13: quint8, 14: qint32, 16: quint4x2, 17: quint2x4}
_NUMBERS = {dtype: number for number, dtype in QUANTIZED_DTYPES.items()}


def answers(value) -> bool:
    """Tells whether a tensor, or one in a list, answers operators itself."""
    if isinstance(value, _C.Tensor):
        kind = _C._answering_class(value)
        return kind is not _C.Tensor and kind is not hotaru.nn.Parameter
    if isinstance(value, (list, tuple)):
        return any(map(answers, value))
    return False


# -- native operators ----------------------------------------------------------


class _Native:
    """Operators by name and types of arguments, compiled once each."""

    def __init__(self) -> None:
        self._known: dict = {}
        self._scripter = None

    def __call__(self, name: str, args: tuple, kwargs: dict):
        given = (*args, *kwargs.values())
        key = (name, len(args), tuple(kwargs), tuple(map(_kind, given)))
        function = self._known.get(key)
        if function is None:
            function = self._known[key] = self._compiled(name, args, kwargs)
        return function(*(v for v in given if not _is_literal(v)))

    def _compiled(self, name: str, args: tuple, kwargs: dict):
        if self._scripter is None:
            self._scripter = Scripter(_C.ScriptUnit(settles=False))
        parameters, texts = [], []
        for keyword, value in (*((None, a) for a in args), *kwargs.items()):
            if _is_literal(value):
                text = repr(value)
            else:
                text = f"a{len(parameters)}"
                parameters.append(f"{text}: {_kind(value)}")
            texts.append(text if keyword is None else f"{keyword}={text}")
        text = f"def call({', '.join(parameters)}):\n"
        text += f"    return ops.{name}({', '.join(texts)})\n"
        names = {
            "ops": hotaru.ops,
            "Tensor": hotaru.Tensor,
            "Device": hotaru.device,
            **_typing(),
        }
        unit = self._scripter.unit
        with unit:
            made = self._scripter.define_text(text, "call", None, names)
            made._compile()
        return made


def _typing() -> dict:
    import typing

    names = ("List", "Dict", "Tuple", "Optional", "NoneType")
    return {n: getattr(typing, n) for n in names if hasattr(typing, n)}


def _is_literal(value) -> bool:
    return value is None or value is True or value is False


_SIMPLE = {int: "int", float: "float", str: "str", complex: "complex"}


def _kind(value) -> str:
    if _is_literal(value):
        return repr(value)
    known = _SIMPLE.get(type(value))
    return known or type_text(value)


native = _Native()


# -- what Python has -----------------------------------------------------------


def _dtype(value):
    """The dtype that a number of a file means."""
    if isinstance(value, int) and not isinstance(value, bool):
        return QUANTIZED_DTYPES.get(value) or _dtypes()[value]
    return value


def _dtypes() -> dict:
    names = (
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
        None,
        "complex64",
        "complex128",
        "bool",
    )
    found = {n: getattr(_C, name) for n, name in enumerate(names) if name}
    return {**found, 15: _C.bfloat16}


_FORMATS = {
    0: _C.contiguous_format,
    1: _C.preserve_format,
    2: _C.channels_last,
    3: _C.channels_last_3d,
}


# Operators of nested tensors that only programs call, by name.
NESTED: dict = {}


def _of_python(name: str, args: tuple, kwargs: dict):
    """An operator of tensors that answer themselves."""
    if name in NESTED:
        return NESTED[name](*args, **kwargs)
    kwargs = dict(kwargs)
    if isinstance(kwargs.get("dtype"), int):
        kwargs["dtype"] = _dtype(kwargs["dtype"])
    if isinstance(kwargs.get("memory_format"), int):
        kwargs["memory_format"] = _FORMATS[kwargs["memory_format"]]
    kwargs = {key: value for key, value in kwargs.items() if value is not None}
    if name in ("contiguous", "clone") and len(args) == 2:
        args = (args[0],)
    first = args[0] if args else None
    for place in (_METHODS, hotaru, hotaru.nn.functional, _C.ops):
        function = (
            getattr(type(first), name, None)
            if place is _METHODS and isinstance(first, _C.Tensor)
            else getattr(place, name, None)
        )
        if callable(function):
            return function(*args, **kwargs)
    raise NotImplementedError(
        f"operator 'aten::{name}' is not implemented for {type(first).__name__}s"
    )


_METHODS = object()


def _to(x, *args, **kwargs):
    first = args[0] if args else None
    if isinstance(first, int) and not isinstance(first, bool):
        if first in QUANTIZED_DTYPES:
            raise RuntimeError("empty_strided not supported on quantized yet")
        if answers(x):
            return x.to(_dtype(first))
    elif answers(x):
        rest = [_dtype(a) for a in args[:2] if a is not None]
        return x.to(*rest)
    return native("to", (x, *args), kwargs)


def _prim_dtype(x) -> int:
    if isinstance(x, QuantizedTensor):
        return _NUMBERS[x.dtype]
    return native("prim.dtype", (x,), {})


def _quantize(x, scale, zero_point, dtype):
    return _create.quantize_per_tensor(x, scale, zero_point, _dtype(dtype))


def _quantize_dynamic(x, dtype, reduce_range):
    return _create.quantize_per_tensor_dynamic(x, _dtype(dtype), reduce_range)


def _quantize_channels(x, scales, zero_points, axis, dtype):
    return _create.quantize_per_channel(x, scales, zero_points, axis, _dtype(dtype))


def _empty_affine(
    size,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    scale=1.0,
    zero_point=0,
    memory_format=None,
):
    return _create._empty_affine_quantized(
        size, scale=scale, zero_point=zero_point, dtype=_dtype(dtype)
    )


def _empty_channels(
    size,
    scales,
    zero_points,
    axis,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    memory_format=None,
):
    return _create._empty_per_channel_affine_quantized(
        size, scales=scales, zero_points=zero_points, axis=axis, dtype=_dtype(dtype)
    )


def _list_slice(values, start=None, end=None, step=1):
    end = None if end is not None and end >= 2**62 else end
    return typed(values[start:end:step], getattr(values, "kind", ""))


def _slice(x, dim=0, start=None, end=None, step=1):
    if isinstance(x, (list, str)):
        return (
            _list_slice(x, dim, start, end or 1) if end else _list_slice(x, dim, start)
        )
    if answers(x):
        end = None if end is not None and end >= 2**62 else end
        place = [slice(None)] * x.dim()
        place[dim] = slice(start, end, step)
        return x[tuple(place)]
    return native("slice", (x, dim, start, end, step), {})


def _raise(message, kind="builtins.RuntimeError"):
    import builtins

    name = str(kind).rpartition(".")[2]
    found = getattr(builtins, name, RuntimeError)
    if not (isinstance(found, type) and issubclass(found, Exception)):
        found = RuntimeError
    raise found(message)


def _append(values: list, item):
    values.append(item)
    return values


def _insert(values: list, place: int, item):
    values.insert(place, item)
    return values


def _set_item(values, key, item):
    values[key] = item
    return values


def _in_place(method: str):
    def function(values, *args):
        getattr(values, method)(*args)
        return values

    return function


def _format(text: str, *values) -> str:
    for value in values:
        text = text.replace("{}", str(value), 1)
    return text


def _pop(values, *args):
    return values.pop(*args)


def _list(values) -> list:
    return typed(list(values), getattr(values, "kind", ""))


def _unwrap(value):
    if value is None:
        raise RuntimeError("Unwrapping null optional")
    return value


def _warn(message, stacklevel: int = 2) -> None:
    warnings.warn(message, stacklevel=2)


def _number(value):
    return value.item() if isinstance(value, _C.Tensor) else value


def _nested(name: str):
    def function(*args, **kwargs):
        return lent(name)(*args, **kwargs)

    return function


_OF_ONEDNN = (
    "mkldnn_convolution",
    "mkldnn_linear",
    "mkldnn_reorder_conv2d_weight",
    "mkldnn_reorder_conv3d_weight",
)
# Functions that take tensors of their own kinds, whatever they are.
PYTHON = {
    **ATEN,
    "quantize_per_tensor": _quantize,
    "quantize_per_tensor_dynamic": _quantize_dynamic,
    "quantize_per_channel": _quantize_channels,
    "dequantize": _create.dequantize,
    "int_repr": _create.int_repr,
    "q_scale": _create.q_scale,
    "q_zero_point": _create.q_zero_point,
    "q_per_channel_scales": _create.q_per_channel_scales,
    "q_per_channel_zero_points": _create.q_per_channel_zero_points,
    "q_per_channel_axis": _create.q_per_channel_axis,
    "_empty_affine_quantized": _empty_affine,
    "_empty_per_channel_affine_quantized": _empty_channels,
    "_make_per_tensor_quantized_tensor": (_create._make_per_tensor_quantized_tensor),
    "_make_per_channel_quantized_tensor": (_create._make_per_channel_quantized_tensor),
    "to_mkldnn": lambda x, dtype=None: x.to_mkldnn(_dtype(dtype)),
    **{name: getattr(_onednn, name) for name in _OF_ONEDNN},
    "_nested_tensor_from_mask": _nested("nested_from_mask"),
    "_nested_tensor_from_mask_left_aligned": _nested("nested_is_left_aligned"),
    "to": _to,
    "slice": _slice,
    "warn": _warn,
    "__is__": operator.is_,
    "__isnot__": operator.is_not,
    "__not__": operator.not_,
    "_unwrap_optional": _unwrap,
    "format": _format,
    "len": len,
    "is_scripting": lambda: True,
    "wait": lambda x: x,
    "device": _C.device,
}
PRIM = {
    "dtype": _prim_dtype,
    "RaiseException": _raise,
    "unchecked_unwrap_optional": _unwrap,
    "unchecked_cast": lambda x: x,
    "data": lambda x: x.data,
    "NumToTensor": lambda x: hotaru.tensor(x),
    "ImplicitTensorToNum": _number,
    "is_quantized": lambda x: bool(x.is_quantized),
    "device": lambda x: x.device,
    "requires_grad": lambda x: x.requires_grad,
    "is_nested": lambda x: bool(x.is_nested),
    "is_mkldnn": lambda x: bool(x.is_mkldnn),
}
# Methods of lists, dicts and texts, which a program changes.
_CONTAINERS = {
    "append": _append,
    "insert": _insert,
    "extend": _in_place("extend"),
    "reverse": _in_place("reverse"),
    "clear": _in_place("clear"),
    "remove": _in_place("remove"),
    "pop": _pop,
    "popitem": _pop,
    "_set_item": _set_item,
    "copy": lambda v: typed(v.copy(), getattr(v, "kind", "")),
    "list": _list,
    "keys": lambda v: list(v.keys()),
    "values": lambda v: list(v.values()),
    "items": lambda v: list(v.items()),
    "get": lambda v, *a: v.get(*a),
    "__getitem__": operator.getitem,
    "__contains__": operator.contains,
    "add": lambda a, b: typed([*a, *b], getattr(a, "kind", "")),
    "add_": _in_place("extend"),
    "eq": operator.eq,
    "ne": operator.ne,
}
# Operators of numbers, as a program of Python has them.
_NUMERIC = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
}


class _Torch:
    """A function of `torch`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._python = PYTHON.get(name)
        self._contained = _CONTAINERS.get(name)
        self._numeric = _NUMERIC.get(name)

    def __call__(self, *args, **kwargs):
        if self._python is not None:
            return self._python(*args, **kwargs)
        if self._contained is not None and isinstance(args[0], (list, dict)):
            return self._contained(*args)
        if self._numeric is not None and all(isinstance(a, (int, float)) for a in args):
            return self._numeric(*args)
        if any(map(answers, args)) or any(map(answers, kwargs.values())):
            return _of_python(self.name, args, kwargs)
        return native(f"aten.{self.name}", args, kwargs)


class _Prim:
    """A function of `ops.prim`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._python = PRIM.get(name)

    def __call__(self, *args, **kwargs):
        if self._python is not None:
            return self._python(*args, **kwargs)
        if any(map(answers, args)):
            return getattr(args[0], self._name)
        return native(f"prim.{self._name}", args, kwargs)


class _Missing:
    """An operator that is not here, which is an error where it is called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"operator '{self._name}' is not implemented")


def call(path: list):
    """The function that a dotted name means."""
    space, *names = path
    if space == "math":
        return _Torch(names[0]) if names else None
    if space == "torch":
        if len(names) == 1:
            return _Torch(names[0])
        head, last = names[0], names[-1]
        if head in ("special", "linalg"):
            return _Torch(f"{head}_{last}")
        if head in ("jit", "_jit_internal") and last in ("fork", "_fork"):
            return lambda function, *args: function(*args)
        return _Torch(last)
    if len(names) != 2:
        raise RuntimeError(f"{'.'.join(path)} is no operator")
    library, name = names
    if library == "aten":
        return _Torch(name)
    if library == "prim":
        return _Prim(name)
    if library == "quantized" and name in OPERATORS:
        return OPERATORS[name]
    return _of_library(library, name)


def constant(path: list):
    """The value that a dotted name means where nobody calls it, or None."""
    space, name = path[0], path[-1]
    if len(path) != 2 or space == "ops":
        return None
    if space == "math":
        return getattr(math, name, None) if name in _OF_MATH else None
    value = getattr(_C, name, None)
    for number, dtype in _dtypes().items():
        if value is dtype:
            return number
    return None


_OF_MATH = ("pi", "e", "tau", "inf", "nan")


def _of_library(library: str, name: str):
    space = getattr(hotaru.ops, library, None)
    try:
        return getattr(space, name)
    except (AttributeError, RuntimeError):
        return _Missing(f"{library}::{name}")


def constructor(qualified: str):
    """The maker of objects of a class that PyTorch has in C++, or None."""
    return CLASSES.get(qualified)


# Attributes that programs read of tensors.
_OF_TENSORS = {
    "T",
    "H",
    "mT",
    "mH",
    "shape",
    "device",
    "grad",
    "data",
    "is_quantized",
    "requires_grad",
    "ndim",
}
_OF_PACKED = {
    "unpack",
    "bias",
    "stride",
    "padding",
    "dilation",
    "output_padding",
    "groups",
    "transpose",
    "bit_rate",
    "version",
}


def get(value, name: str):
    """An attribute, as far as programs may see one."""
    from .objects import Object

    if isinstance(value, Object):
        return value.get(name)
    if isinstance(value, Packed) and name in _OF_PACKED:
        return getattr(value, name)
    if isinstance(value, _C.Tensor) and name in _OF_TENSORS:
        return getattr(value, name)
    if isinstance(value, tuple) and name in getattr(value, "_fields", ()):
        return getattr(value, name)
    raise RuntimeError(f"{type(value).__name__} has no attribute '{name}'")


def put(value, name: str, item) -> None:
    """Assigns an attribute of an object of the program."""
    from .objects import Object

    if not isinstance(value, Object):
        raise RuntimeError(f"{type(value).__name__} takes no attributes")
    value.put(name, item)


def _annotated(value, kind: str):
    return typed(value, kind) if isinstance(value, (list, dict)) else value


def special(name: str, args: list):
    """The expression in place of a call with types, or None."""
    if name == "annotate":
        kind = ast.Constant(ast.unparse(args[0]))
        return ast.Call(ast.Name("_annotated", ast.Load()), [args[1], kind], [])
    if name == "unchecked_cast":
        return args[1]
    if name == "uninitialized":
        return ast.Constant(None)
    if name == "isinstance":
        raise RuntimeError("isinstance() is not run by Python")
    return None


def _int(value):
    return int(value)


GLOBALS = {
    "_annotated": _annotated,
    "range": lambda *a: range(*a),
    "len": len,
    "int": _int,
    "float": lambda v: float(v),
    "bool": lambda v: bool(v),
    "str": lambda v: str(v),
    "print": lambda *a: print(*a),
    "zip": lambda *a: zip(*a),
    "enumerate": lambda *a: enumerate(*a),
    "min": lambda *a: native("aten.min", a, {}),
    "max": lambda *a: native("aten.max", a, {}),
    "abs": lambda v: abs(v),
    "tuple": lambda v=(): tuple(v),
    "list": lambda v=(): list(v),
    "dict": lambda v=(): dict(v),
    "inf": math.inf,
    "nan": math.nan,
    "infj": complex(0, math.inf),
    "nanj": complex(0, math.nan),
}
