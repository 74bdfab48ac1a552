"""Meanings of the names in a compiled function.

Every answer is a tuple that begins with its kind, which the native side reads:
("value", 3), ("builtin", "relu"), ("function", f), ("namespace", object, name),
("type", t), ("generic", "List"), ("language", "len"), ("special", "fork"),
("dispatch", ...), ("error", text) or ("unknown",).
"""

from __future__ import annotations

import builtins
import collections
import enum
import functools
import inspect
import math
import sys
import types
import typing
import warnings

import hotaru

from .. import _C, _awaits
from .._own_names import is_own
from ..nn import Module
from . import _async, _marks
from ._library import functional as _functional
from ._library import torch_level as _torch_level
from ._library import tuples as _tuples
from ._library import uniques as _uniques
from ._operators import is_class_namespace, is_overloaded, overload_of, own_class_name
from .frontend import NotSupportedError

UNKNOWN = ("unknown",)

# Python's own functions and types that the language knows by the same name.
_LANGUAGE = {
    name: getattr(builtins, name)
    for name in (
        "len",
        "min",
        "max",
        "abs",
        "sum",
        "sorted",
        "any",
        "all",
        "round",
        "divmod",
        "ord",
        "chr",
        "pow",
        "hex",
        "oct",
        "bin",
        "isinstance",
        "getattr",
        "hasattr",
        "range",
        "enumerate",
        "zip",
        "print",
        "tuple",
        "list",
        "dict",
        "int",
        "float",
        "bool",
        "str",
        "complex",
        "reversed",
        "callable",
        "super",
        "type",
        "hash",
    )
}
_LANGUAGE_NAMES = {id(value): name for name, value in _LANGUAGE.items()}
_LANGUAGE_NAMES[id(collections.OrderedDict)] = "dict"
_LANGUAGE_NAMES[id(hotaru.Size)] = "list"

_GENERIC = {
    id(getattr(typing, name)): name
    for name in (
        "List",
        "Dict",
        "Tuple",
        "Optional",
        "Union",
        "Any",
        "Sequence",
        "Final",
    )
}
_GENERIC[id(type(None))] = "NoneType"

_SPECIALS = {
    id(_async.fork): ("special", "fork"),
    id(_async.wait): ("builtin", "wait"),
    id(_marks.annotate): ("special", "annotate"),
    id(_marks.isinstance): ("special", "isinstance"),
    id(_marks._unwrap_optional): ("builtin", "_unwrap_optional"),
    id(_marks.is_scripting): ("builtin", "is_scripting"),
    id(_marks.is_tracing): ("builtin", "is_tracing"),
    id(_torch_level._begin_range): ("builtin", "profiler::_record_function_enter_new"),
    id(_torch_level._end_range): ("builtin", "profiler::_record_function_exit"),
    id(_awaits._awaitable): ("special", "awaitable"),
    id(_awaits._awaitable_wait): ("builtin", "awaitable_wait"),
    id(_awaits._awaitable_nowait): ("builtin", "awaitable_nowait"),
    id(_awaits._Await): ("generic", "Await"),
    id(warnings.warn): ("builtin", "warn"),
    id(slice): ("special", "slice"),
    id(...): ("special", "Ellipsis"),
    id(hotaru.autograd.grad): ("builtin", "grad"),
}

# Types of Python that programs may have under names of their own.
_PYTHON_TYPES = (bool, int, float, complex, str)

# Memory formats and layouts are numbers to the language.
_NUMBERS = {
    "contiguous_format": 0,
    "preserve_format": 1,
    "channels_last": 2,
    "channels_last_3d": 3,
    "strided": 0,
    "sparse_coo": 1,
    "sparse_csr": 2,
    "sparse_csc": 4,
    "sparse_bsr": 5,
    "sparse_bsc": 6,
    "jagged": 7,
}

QSCHEMES = {
    "torch.per_tensor_affine": 0,
    "torch.per_channel_affine": 1,
    "torch.per_tensor_symmetric": 2,
    "torch.per_channel_symmetric": 3,
    "torch.per_channel_affine_float_qparams": 4,
}
_OPERATOR = type(hotaru.ops.relu)
# Methods of tensors that are functions, where the operator is something else.
_METHODS = frozenset({"lu", "stft", "unique", "unique_consecutive"})
# Names in the sources that are put together here.
_GENERATED = {
    "__unchecked_cast": ("special", "unchecked_cast"),
    "__call_foreign": ("builtin", "call_foreign"),
    **{
        f"__{name}": ("generic", name)
        for name in ("list", "dict", "tuple", "Optional", "Union", "Future", "Await")
    },
    "__raise": ("special", "RaiseException"),
    "__uninitialized": ("special", "uninitialized"),
}
# The class that archives have for it.
_AUTOCAST = "__torch__.torch.amp.autocast_mode.autocast"
_PLAIN = (bool, int, float, complex, str, _C.dtype, _C.device)


def add_special(function, meaning: tuple) -> None:
    """Gives a function of the package a meaning in compiled code."""
    _SPECIALS[id(function)] = meaning


def _has_only_static_methods(cls: type) -> bool:
    """Tells a class that functions lie in, of which nobody makes an instance."""
    members = [v for k, v in vars(cls).items() if not k.startswith("__")]
    static = [isinstance(member, staticmethod) for member in members]
    return (
        cls.__bases__ == (object,)
        and "__init__" not in vars(cls)
        and (any(static) and all(static))
    )


class Foreign:
    """A function that compiled code calls as Python does."""

    def __init__(self, function) -> None:
        self.function = function


class Constant:
    """A tensor that is part of a program."""

    def __init__(self, value) -> None:
        self.value = value


class Resolver:
    """Answers for one function; `scripter` compiles what it calls.

    `caller` is the function's name in errors of classes that it uses.
    """

    def __init__(self, names: dict, scripter, caller: str = "") -> None:
        self._names = names
        self._scripter = scripter
        self._caller = caller

    def __call__(self, parent, name: str) -> tuple:
        try:
            return self._resolve(parent, name)
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            # The compiler adds the place where the name stands.
            if isinstance(error, NotSupportedError):
                self._scripter.not_supported = error
            return ("error", str(error))

    def _resolve(self, parent, name: str) -> tuple:
        if parent is not None:
            return self._attribute(parent, name)
        if name in _GENERATED:
            return _GENERATED[name]
        if name.startswith("Tensor."):
            return self._method(name.removeprefix("Tensor."))
        if name in self._names:
            value = self._names[name]
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
        else:
            return UNKNOWN
        return self.meaning(value, name)

    def _attribute(self, parent, name: str) -> tuple:
        if parent is hotaru and name in _NUMBERS:
            return ("value", _NUMBERS[name])
        if parent is hotaru.ops and name in ("aten", "prim"):
            return ("namespace", hotaru.ops, f"ops.{name}")
        # Every other name is a namespace of operators that Python defined.
        unknown = parent is hotaru.ops and name not in vars(parent)
        if unknown and _C._script_has_operator(name):
            return ("builtin", name)
        try:
            value = getattr(parent, name)
        except AttributeError:
            if _is_ours(parent) and _C._script_has_operator(name):
                return ("builtin", name)
            return UNKNOWN
        return self.meaning(value, name, parent)

    def _method(self, name: str) -> tuple:
        """A method of tensors that is no operator of its name."""
        found = _torch_level.METHODS.get(name)
        if found is not None:
            return ("function", self._scripter.function(found))
        if name not in _METHODS:
            return UNKNOWN
        return self._function(getattr(hotaru, name), name, hotaru)

    def meaning(self, value, name: str, parent=None) -> tuple:
        """Tells what a value that the program calls `name` means."""
        if isinstance(value, enum.Enum):
            return ("value", self._scripter.enum_value(value))
        if value is None or isinstance(value, _PLAIN):
            return ("value", value)
        number = _numbers().get(id(value))
        if number is not None:
            return ("value", number)
        if name != getattr(value, "__name__", name) and value in _PYTHON_TYPES:
            return ("generic", value.__name__)  # an alias, for annotations, too
        known = (
            _SPECIALS.get(id(value))
            or _named("language", _LANGUAGE_NAMES, value)
            or _named("generic", _GENERIC, value)
        )
        if known:
            return known
        if value is hotaru.Tensor or value is hotaru.nn.Parameter:
            return ("type", self._scripter.named_type("Tensor"))
        if value in (hotaru.device, hotaru.dtype, hotaru.futures.Future):
            return ("generic", value.__name__)
        if value is hotaru.Generator:
            return ("type", self._scripter.named_type("Generator"))
        if isinstance(value, types.ModuleType):
            return self._module(value, name)
        if type(value).__name__ == "BroadcastingListCls" and _is_ours(value):
            return ("generic", value.__name__)
        if isinstance(value, Foreign):
            return ("python", value.function)
        if isinstance(value, Constant):
            return ("value", value.value)
        if isinstance(value, _C.ScriptFunction):
            return ("function", self._scripter.compiled(value))
        if is_class_namespace(value):
            return ("namespace", value, name)
        if own_class_name(value):
            return ("type", self._scripter.own_class(own_class_name(value)))
        if isinstance(value, type):
            return self._class(value)
        if typing.get_origin(value) is not None:
            return ("type", self._scripter.type_of_annotation(value))
        if isinstance(value, (list, tuple)):
            return ("value", value) if _is_constant(value) else _error(value)
        if isinstance(value, hotaru.jit.RecursiveScriptModule):
            return (
                "error",
                "Cannot call a ScriptModule that is not a submodule of the caller",
            )
        if isinstance(value, Module):
            return self._called(value, type(value).forward)
        if isinstance(value, hotaru.Tensor):
            return _error(value)
        if type(value).__name__ == "qscheme" and _is_ours(type(value)):
            return ("value", QSCHEMES[str(value)])
        if is_overloaded(value):
            return ("namespace", value, name)
        overload = overload_of(value)
        if overload is not None:
            qualified = overload.name().removesuffix(".default")
            if _C._op_schemas(qualified):  # the library's own, of torchvision
                return ("builtin", qualified)
            return ("function", self._scripter.operator(overload))
        if callable(value):
            return self._function(value, name, parent)
        return _error(value)

    def _module(self, module, name: str) -> tuple:
        return ("namespace", module, name)

    def _called(self, value, declared) -> tuple:
        """Objects and modules that are not compiled, which Python calls."""
        hints = getattr(declared, "__annotations__", {})
        names = getattr(declared, "__globals__", {})
        result = (
            self._scripter.type_of_annotation(hints["return"], names)
            if "return" in hints
            else self._scripter.named_type("Tensor")
        )
        return ("python", value, result)

    def _class(self, cls: type) -> tuple:
        if vars(cls).get(_marks.MARK) in (_marks.IGNORE, _marks.UNUSED):
            raise NotSupportedError(
                f"Cannot instantiate class '{cls.__name__}' in a script function"
            )
        if issubclass(cls, BaseException):
            return ("language", cls.__name__)
        holders = (Module, hotaru.autograd.Function)
        if issubclass(cls, holders) and not _marks.is_interface(cls):
            return ("namespace", cls, cls.__name__)  # of static methods
        if _has_only_static_methods(cls):
            return ("namespace", cls, cls.__name__)
        if cls is hotaru.amp.autocast:
            return ("type", self._scripter.archived_class(_AUTOCAST))
        replacement = _torch_level.replacement(cls)
        if replacement is None and issubclass(cls, hotaru.amp.autocast):
            return (
                "error",
                "this deprecated autocast is not implemented within compiled "
                "code; use torch.autocast(device_type)",
            )
        try:
            return ("type", self._scripter.class_type(replacement or cls))
        except RuntimeError as error:
            if not self._caller or not str(error).endswith("\n"):
                raise  # not of the class's code
            raise type(error)(
                f"{error}'{cls.__name__}' is being compiled since it was "
                f"called from '{self._caller}'"
            ) from None

    def _function(self, function, name: str, parent) -> tuple:
        while isinstance(function, functools.partial) and not (
            function.args or function.keywords
        ):
            function = function.func
        repeated = _repeated(function)
        if repeated:
            return ("overloads", [self._scripter.function(f) for f in repeated])
        if _is_sparse_product(function):
            return ("builtin", "_sparse_mm")
        replacement = _elsewhere(function)
        if replacement is not None:
            return ("function", self._scripter.function(replacement))
        scope, real_name = _home(function) or (None, name)
        if scope is None and parent is not None and _is_ours(parent):
            scope = parent
        by_flag = getattr(function, "by_flag", None)
        if scope is hotaru.nn.functional or parent is hotaru.nn.functional:
            replacement = getattr(_functional, real_name, None)
            if inspect.isfunction(replacement):
                return ("function", self._scripter.function(replacement))
            by_flag = _functional.BY_FLAG.get(real_name, by_flag)
        if scope is hotaru:
            by_flag = _uniques.BY_FLAG.get(real_name, by_flag)
            overloads = _torch_level.OVERLOADS.get(real_name)
            if overloads:
                compiled = [self._scripter.function(f) for f in overloads]
                return ("overloads", compiled)
        if by_flag is not None:
            return self._dispatched(by_flag)
        op = getattr(function, "op", function)  # torch.ops.hotaru.name
        if isinstance(op, _OPERATOR):
            return ("builtin", op.__name__)
        if scope is not None and scope is math:
            if real_name == "ldexp":
                return ("function", self._scripter.function(_torch_level.ldexp))
            if real_name == "remainder":  # which is % among the operators
                return ("builtin", "mathremainder")
            if real_name not in _OF_TENSORS_ONLY:
                return ("builtin", real_name)
            scope = None
        if scope is hotaru:
            replacement = getattr(_torch_level, real_name, None)
            if inspect.isfunction(replacement):
                return ("function", self._scripter.function(replacement))
            if _C._script_has_operator(real_name):
                return ("builtin", real_name)
        if scope is hotaru.linalg and _C._script_has_operator(f"linalg_{real_name}"):
            return ("builtin", f"linalg_{real_name}")
        wrapped = inspect.unwrap(function)
        if inspect.isfunction(wrapped):
            overloads = self._scripter.overloads(wrapped)
            if overloads:
                return ("overloads", overloads)
            return ("function", self._scripter.function(wrapped))
        owner = getattr(function, "__self__", None)
        differentiable = isinstance(owner, type) and issubclass(
            owner, hotaru.autograd.Function
        )
        if differentiable and function == owner.apply:
            return ("function", self._scripter.apply_of(owner))
        call = inspect.getattr_static(type(function), "__call__", None)
        if inspect.isfunction(call) and not _is_ours(type(function)):
            return self._called(function, call)
        if inspect.isbuiltin(function):
            return (
                "error",
                f"Python builtin {function} is currently not supported in Torchscript",
            )
        if not _is_ours(function):
            return (
                "error",
                "python value of type "
                f"'{type(function).__name__}' cannot be used as a value: "
                f"{name!r} has no source and is no operator",
            )
        return _error(function)

    def _dispatched(self, by_flag) -> tuple:
        """A function, or what it is by a flag, its place and both cases."""
        if not isinstance(by_flag, tuple):
            return ("function", self._scripter.function(by_flag))
        flag, position, *cases = by_flag
        return (
            "dispatch",
            flag,
            position,
            False,
            *(self._dispatched(case) for case in cases),
        )


# Functions of `math` whose names are operators of tensors, and only of them:
# numbers would become tensors of float32.
_OF_TENSORS_ONLY = frozenset(
    {"dist", "exp2", "hypot", "isclose", "lcm", "nextafter", "prod"}
)


_SEQUENCES = frozenset({"pack_padded_sequence", "pack_sequence", "pad_sequence"})


def _is_sparse_product(function) -> bool:
    """Tells whether that is `torch.sparse.mm`, of a module imported late."""
    module = getattr(function, "__module__", None) or ""
    named = getattr(function, "__name__", "") == "mm" and ".sparse" in module
    return named and _is_ours(function)


def _elsewhere(function):
    """A counterpart of a function of a module that is imported late."""
    if not _is_ours(function):
        return None
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", "")
    if name == "has_torch_function":
        return _torch_level.has_torch_function
    if name in _SEQUENCES and module.endswith(".rnn"):
        return getattr(_functional, name)
    return None


def _repeated(function) -> tuple:
    """Counterparts of a function that makes lists of numbers."""
    module = getattr(function, "__module__", None) or ""
    if not (_is_ours(function) and module.endswith(".nn.modules.utils")):
        return ()
    return _tuples.OVERLOADS.get(getattr(function, "__name__", ""), ())


def _named(kind: str, table: dict, value) -> tuple | None:
    name = table.get(id(value))
    return (kind, name) if name else None


@functools.cache
def _numbers() -> dict:
    return {id(getattr(hotaru, n)): v for n, v in _NUMBERS.items()}


@functools.cache
def _homes() -> dict:
    """Id of each function of these modules -> (module, name).

    What they import when it is asked for stays unimported: `_made_in` knows it.
    """
    out = {}
    functional = hotaru.nn.functional
    for module in (math, hotaru.linalg, functional, hotaru):
        for name, value in vars(module).items():
            if name.startswith("__"):
                continue
            if callable(value) and not isinstance(value, type):
                out[id(value)] = (module, name)
    return out


def _made_in(function) -> tuple | None:
    """The same of a function that the top level has from a module which is
    imported late: who has the function has imported it.
    """
    for name, module in hotaru._MADE_IN.items():
        made = sys.modules.get(f"{hotaru.__name__}.{module}")
        if made is not None and vars(made).get(name) is function:
            return (hotaru, name)
    return None


def _home(function) -> tuple | None:
    return _homes().get(id(function)) or _made_in(function)


def _is_ours(value) -> bool:
    if isinstance(value, _C.Function):
        return True
    name = getattr(value, "__name__" if inspect.ismodule(value) else "__module__", None)
    return isinstance(name, str) and is_own(name)


def _is_constant(value) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_constant(item) for item in value)
    return value is None or isinstance(value, (enum.Enum, *_PLAIN))


def _error(value) -> tuple:
    return (
        "error",
        f"python value of type '{type(value).__name__}' cannot be used as a "
        "value. Perhaps it is a closed over global variable? If so, please "
        "consider passing it in as an argument or use a local variable "
        "instead.",
    )
