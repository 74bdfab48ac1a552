"""Attributes of modules, sorted into what their compiled classes know of them."""

from __future__ import annotations

import inspect
import typing

from .. import _C, nn
from .._own_names import is_own
from .._utils import typename
from . import _marks
from ._attribute_types import class_of, type_of
from ._declared.annotations import own_annotations
from ._module import ScriptModule
from ._resolve import QSCHEMES
from ._scripter import _UNIT, SCRIPTER
from ._source import module_names, named
from ._tracing.inputs import why_untyped

# Attributes that every nn.Module has and no program means.
_INTERNAL = {
    *vars(nn.Module()),
    "call_super_init",
    "dump_patches",
    "_hooked",
    "_script_sources",
    "_script_types",
} - {"training"}
_CONSTANTS = (bool, float, int, str, type(None), _C.device, _C.layout, _C.dtype)
BASES = {ScriptModule, *nn.Module.__mro__}


class Kind:
    """Stands for all values of a type that TorchScript has not, for a reason."""

    def __init__(self, type_: type, reason: str) -> None:
        self.type, self.reason = type_, reason


_KINDS: dict[tuple, Kind] = {}


class Members:
    """A module's attributes, sorted into what the class knows of them."""

    def __init__(self, module: nn.Module, builder) -> None:
        self.types: dict = {}
        self.values: dict = {}
        self.constants: dict = {}
        self.failed: dict = {}
        self._module = module
        self._names = module_names(type(module))
        self._annotations = _class_annotations(type(module)) | vars(module).get(
            "_script_types", {}
        )
        self._constants = _constant_names(type(module), self._annotations)
        self._ignored = frozenset(ignored(module))
        none = SCRIPTER.named_type("NoneType")
        tensor = SCRIPTER.named_type("Tensor")
        for name, value in module._parameters.items():
            if name not in self._ignored:
                self._add(name, value, none if value is None else tensor, "p")
        for name, value in module._buffers.items():
            if name in self._ignored:
                continue
            known = self._annotated(name)
            default = none if value is None else tensor
            self._add(name, value, known or default, "b")
        for name, child in module._modules.items():
            if name in self._ignored:
                continue
            if child is None:
                if not builder._traced:
                    self._add(name, None, none)
            else:
                native = builder.build(child)
                wanted = self._interface(name) or native.class_type
                self._add(name, native, wanted)
        for name, value in _plain_attributes(module):
            own = name in vars(module) or callable(value) or name in self._constants
            if name not in self.types and name not in self._ignored and own:
                self._plain(name, value)

    def key(self):
        """Equal for modules that can share a class."""
        types = tuple(
            (name, str(type_), *flags) for name, (type_, *flags) in self.types.items()
        )
        return (
            type(self._module),
            self._ignored,
            types,
            repr(self.constants),
            tuple((k, id(v)) for k, v in self.failed.items()),
        )

    def _add(self, name: str, value, type_, kind: str = "") -> None:
        self.types[name] = (type_, kind == "p", kind == "b")
        self.values[name] = value

    def _interface(self, name: str):
        """The type of an interface, if the attribute is declared as one."""
        annotation = self._annotations.get(name)
        if isinstance(annotation, str):
            annotation = named(annotation, self._names)
        if inspect.isclass(annotation) and _marks.is_interface(annotation):
            return SCRIPTER.class_type(annotation)
        return None

    def _annotated(self, name: str):
        annotation = self._annotations.get(name)
        if annotation is None or _is_final(annotation):
            return None
        return SCRIPTER.type_of_annotation(annotation, self._names)

    def _plain(self, name: str, value) -> None:
        modules = name not in self._constants and _holds_modules(value)
        if modules or _is_quantized(value):
            return self._fail(name, value)
        known = None
        if type(value).__name__ == "qscheme" and is_own(type(value).__module__):
            value = QSCHEMES[str(value)]
        if isinstance(value, _marks.Attribute):
            known = SCRIPTER.type_of_annotation(value.type, self._names)
            value = value.value
        function = callable(value) and not isinstance(value, (type, nn.Module))
        if name in self._constants and not function:
            try:
                value = self._valid(name, value)
            except TypeError:
                if not isinstance(self._constants, _Everything):
                    raise  # the class itself says that it is one
                self._fail(name, value)
                return
        if callable(value) and not isinstance(value, _C.dtype):
            self._fail(name, value)  # perhaps a function to call
            return
        try:
            if name in self._constants:
                _UNIT.type_of(value)
                self.constants[name] = value
                return
            known = known or self._annotated(name) or type_of(value)
        except (TypeError, RuntimeError):
            known = class_of(value)  # an error only if the program uses it
        if known is None:
            self._fail(name, value)
        else:
            self._add(name, value, known)

    def _fail(self, name: str, value) -> None:
        """Keeps what the compiler may ask for, which outlives the module:
        functions, and of other values the type, lest they keep the module.
        """
        if not callable(value):
            key = (type(value), why_untyped(value))
            value = _KINDS.setdefault(key, Kind(*key))
        elif inspect.ismethod(value) and value.__self__ is self._module:
            value = value.__func__  # `_Methods` finds it by its name
        self.failed[name] = value

    def _valid(self, name: str, value):
        """A constant; its lists are tuples. TypeError for other values."""
        if isinstance(value, _CONSTANTS):
            return value
        if isinstance(value, (list, tuple)):
            return tuple(self._valid(name, item) for item in value)
        known = ", ".join(typename(type_) for type_ in _CONSTANTS)
        raise TypeError(
            f"'{typename(type(value))}' object in attribute "
            f"'{type(self._module).__name__}.{name}' is not a valid constant.\n"
            f"Valid constants are:\n1. a nn.ModuleList\n2. a value of type "
            f"{{{known}}}\n3. a list or tuple of (2)\n"
        )


def ignored(module) -> tuple:
    """Names of attributes that the class leaves to Python."""
    return tuple(getattr(type(module), "__jit_ignored_attributes__", ()))


def _holds_modules(value) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return type(value) in (list, tuple) and any(
        isinstance(item, nn.Module) or _holds_modules(item) for item in value
    )


def _is_quantized(value) -> bool:
    if type(value) in (list, tuple):
        return any(map(_is_quantized, value))
    return isinstance(value, _C.Tensor) and value.is_quantized


def _plain_attributes(module: nn.Module):
    """Name and value of attributes that are no tensors of the module's."""
    seen = set(_INTERNAL)
    if isinstance(module, nn.ParameterDict):
        seen.add("_keys")  # which the parameters' names are
    for name, value in vars(module).items():
        if name not in seen:
            seen.add(name)
            yield name, value
    for base in type(module).__mro__:
        if base in BASES:
            continue
        for name, value in vars(base).items():
            dunder = name.startswith("__") and name.endswith("__")
            descriptor = hasattr(value, "__get__")
            if name not in seen and not dunder and not descriptor:
                seen.add(name)
                yield name, value


def _class_annotations(python: type) -> dict:
    if is_own(python.__module__, "nn"):
        return {}
    out: dict = {}
    for base in reversed(python.__mro__):
        if not is_own(base.__module__, "nn"):
            out.update(own_annotations(base))
    return out


def _is_final(annotation) -> bool:
    if isinstance(annotation, str):  # not evaluated
        head = annotation.partition("[")[0]
        return head.rpartition(".")[2] == "Final"
    return annotation is typing.Final or (typing.get_origin(annotation) is typing.Final)


def _constant_names(python: type, annotations: dict) -> set:
    out = {name for name, a in annotations.items() if _is_final(a)}
    out.update(getattr(python, "__constants__", ()))
    for base in python.__mro__:
        if is_own(base.__module__, "nn") and base not in BASES:
            # The package's own modules never change their options.
            return out | _Everything()
    return out


class _Everything(set):
    """A set that holds every name but `training`."""

    def __contains__(self, name) -> bool:
        return name != "training"

    def __ror__(self, other) -> _Everything:
        return self
