"""Functions and classes compiled from their source, each of them once."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import os
import typing

import hotaru

from .. import _C
from . import _marks
from ._declared import enums, tuples
from ._declared.annotations import own_annotations
from ._declared.dataclasses import defaults_of_dataclass, is_made, methods_of_dataclass
from ._operators import NAMES, signature_of
from ._packaged import module_of
from ._resolve import Foreign, Resolver
from ._source import (
    check_type_comments,
    defaults_of,
    module_names,
    source_of,
    surroundings,
    type_comment,
    with_signature,
)
from .frontend import NotSupportedError, UnknownAnnotationError

# The classes and functions of one process, in which they can call each other.
# `with _UNIT` keeps other threads from compiling; calls don't need it.
_UNIT = _C.ScriptUnit()
# A fork waits for who compiles: the child could not go on with half of it.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_UNIT.__enter__,
        after_in_parent=_UNIT.__exit__,
        after_in_child=_UNIT.__exit__,
    )

ScriptFunction = _C.ScriptFunction


class _Members:
    """Finds the members of a class that are no methods."""

    def __init__(self, cls: type, scripter: Scripter) -> None:
        self._cls = cls
        self._scripter = scripter

    def load(self, name: str, method: str = "", cls: str = "") -> tuple:
        """Tells what `object.name` means or, for "static f", `Class.f`."""
        static, _, own = name.rpartition(" ")
        member = vars(self._cls).get(own)
        if static:
            if not isinstance(member, staticmethod):
                return ("unknown",)
            return Resolver({}, self._scripter).meaning(member.__func__, own)
        data = own in vars(self._cls) and not hasattr(member, "__get__")
        if not data or own.startswith("__"):
            return ("unknown",)
        return (
            "error",
            f"'{_qualified_name(self._cls)}' object has no attribute or method "
            f"'{own}'. '{own}' is defined as a class attribute which currently is "
            "not supported. Consider converting this to an instance attribute.",
        )


class Scripter:
    """Compiles Python functions and classes, each of them once, into a unit."""

    def __init__(self, unit) -> None:
        self.unit = unit
        self._functions: dict = {}
        self._classes: dict = {}
        self._overloads: dict = {}
        # The last such error of a function that another one calls.
        self.not_supported: NotSupportedError | None = None

    def function(self, function) -> ScriptFunction:
        """The function, parsed; it compiles when it is first needed."""
        known = self._functions.get(function)
        if known is None:
            known = self.define_marked(function, _qualified_name(function))
            self._functions[function] = known
        return known

    def define(
        self, function, name: str, owner=None, known: dict | None = None
    ) -> ScriptFunction:
        """Parses one function or, with an owner, a method of that class.

        `known` are names that mean something else than they do in Python.
        """
        _check_parameters(function)
        source = source_of(function)
        names = {**surroundings(function), **(known or {})}
        if owner is None:
            # A decorated function calls itself before its name is bound.
            names.setdefault(function.__name__, function)
        resolver = Resolver(names, self, function.__name__)
        defaults = _defaults(function, source)
        place = (source.text, source.file, source.line)
        if not function.__annotations__:
            check_type_comments(source.text)
        try:
            return self.unit.define_function(
                *place, name, resolver, defaults, owner, source.indent
            )
        except RuntimeError as error:  # names are looked up later
            raise NotSupportedError(str(error)) from None

    def overloads(self, function) -> list[ScriptFunction]:
        """The function once for each signature that is declared for it."""
        declared = _marks.overloads_of(function)
        if declared and function not in self._overloads:
            name = _qualified_name(function)
            self._overloads[function] = [
                self.define_overload(one, function, f"{name}__{i}")
                for i, one in enumerate(declared)
            ]
        return self._overloads.get(function, [])

    def define_overload(
        self, declared, function, name: str, owner=None
    ) -> ScriptFunction:
        """Parses a function with the signature of another one."""
        _check_parameters(declared)
        names = {**surroundings(function), **surroundings(declared)}
        if owner is None:
            names[function.__name__] = function
        header = []
        keywords = False
        given = inspect.signature(declared).parameters
        # Parameters that only the definition has keep their defaults.
        rest = {
            name: p
            for name, p in inspect.signature(function).parameters.items()
            if name not in given and p.default is not p.empty
        }
        for p in (*given.values(), *rest.values()):
            if p.kind is p.KEYWORD_ONLY and not keywords:
                header.append("*")
                keywords = True
            typed = p.annotation is not p.empty
            text = f": {_type_text(p.annotation, names)}" if typed else ""
            header.append(p.name + text)
        result = declared.__annotations__.get("return", inspect.Parameter.empty)
        typed = "return" in declared.__annotations__
        arrow = f" -> {_type_text(result, names)}" if typed else ""
        source = with_signature(
            function,
            f"def {function.__name__}({', '.join(header)}){arrow}:\n",
            declared,
        )
        resolver = Resolver(names, self, function.__name__)
        defaults = _defaults(function, source)
        fitting = _fitting(
            {k: v for k, v in defaults.items() if k not in rest}, declared
        )
        defaults = {**fitting, **{k: defaults[k] for k in rest}}
        try:
            return self.unit.define_function(
                *source[:3], name, resolver, defaults, owner
            )
        except RuntimeError as error:
            raise NotSupportedError(str(error)) from None

    def define_text(
        self,
        text: str,
        name: str,
        owner,
        names: dict | None = None,
        defaults: dict | None = None,
    ) -> ScriptFunction:
        """Parses a function whose source was put together here."""
        resolver = Resolver(names or {}, self)
        return self.unit.define_function(
            text, f"<{name}>", 1, name, resolver, defaults or {}, owner
        )

    def define_marked(self, function, name: str, owner=None, known: dict | None = None):
        """The same for functions that may be marked `ignore` or `unused`.

        Compiled code sees their signature; calling them calls Python, or
        raises.
        """
        mark = _marks.mark_of(function)
        if mark not in (_marks.IGNORE, _marks.UNUSED):
            return self.define(function, name, owner, known)
        signature = inspect.signature(function)
        first = [] if owner is None else list(signature.parameters)[:1]
        annotations = function.__annotations__
        names = surroundings(function)
        parameters = [
            p.replace(default=p.empty, annotation=p.empty)
            for p in signature.parameters.values()
        ]
        # Methods of classes that are left out take whatever they are given.
        left_out = mark == _marks.UNUSED and owner is not None and not owner.is_module
        if left_out:
            several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            parameters = [p for p in parameters if p.kind not in several]
            given = {p.name: typing.Any for p in parameters}
            returns = {k: v for k, v in annotations.items() if k == "return"}
            annotations = given | returns
        header = [
            p.name
            if p.name in first or p.name not in annotations
            else f"{p.name}: {_type_text(annotations[p.name], names)}"
            for p in parameters
        ]
        by_name = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        if by_name:
            header.insert(len(parameters) - len(by_name), "*")
        result, comment = "Tensor", None
        if "return" in annotations:
            result = _type_text(annotations["return"], names)
        elif not annotations:
            comment = type_comment(function)
        if comment:
            result = comment[1]
        if mark == _marks.UNUSED:
            why = (
                "Cannot call @unused methods"
                if left_out
                else "This Python function is annotated to be ignored and cannot be run"
            )
            body = f"__raise({why!r})\n    return __uninitialized({result})"
        else:
            given = "".join(f"{p.name}, " for p in parameters)
            body = (
                f"return __unchecked_cast({result}, "
                f"__call_foreign(__function, ({given})))"
            )
        text = f"def {function.__name__}({', '.join(header)})"
        text += f":\n    # type: {comment[0]}\n" if comment else f" -> {result}:\n"
        called = _by_position(function, by_name)
        if "return" not in annotations and comment is None:
            called = _giving_tensors(called)
        names["__function"] = Foreign(called)
        resolver = Resolver(names, self)
        return self.unit.define_function(
            f"{text}    {body}\n",
            f"<{name}>",
            1,
            name,
            resolver,
            defaults_of(function),
            owner,
        )

    def compiled(self, function: ScriptFunction) -> ScriptFunction:
        """The function, or what this unit calls in its place."""
        text = getattr(function, "_text", None)
        if text is None or function._is_from(self.unit):
            return function
        return text.function(function.name)

    def enum_value(self, value: enum.Enum) -> enum.Enum:
        """The value, of a class that this unit can have."""
        return value

    def own_class(self, qualified_name: str):
        """The type of a class that C++ registered."""
        return _C._own_class_type(self.unit, qualified_name)

    def archived_class(self, qualified_name: str):
        """The type of a class that the unit itself knows by this name."""
        return self.unit.find_type(qualified_name)

    def apply_of(self, cls: type) -> ScriptFunction:
        """Function compiled code calls for `apply` of an autograd.Function."""
        known = self._functions.get(cls)
        if known is None:
            forward = cls.forward
            parameters = list(inspect.signature(forward).parameters.values())
            if cls.setup_context is hotaru.autograd.Function.setup_context:
                del parameters[0]  # ctx
            names = {**surroundings(forward), "__function": Foreign(cls.apply)}
            hints = forward.__annotations__
            header, given = [], ""
            for p in parameters:
                hint = hints.get(p.name)
                text = f": {_type_text(hint, names)}" if p.name in hints else ""
                header.append(p.name + text)
                given += f"{p.name}, "
            result = "Tensor"
            if "return" in hints:
                result = _type_text(hints["return"], names)
            name = _qualified_name(cls)
            text = (
                f"def {cls.__name__}({', '.join(header)}) -> {result}:\n    return "
                f"__unchecked_cast({result}, __call_foreign(__function, ({given})))\n"
            )
            names.setdefault("Tensor", hotaru.Tensor)
            defaults = {
                p.name: p.default for p in parameters if p.default is not p.empty
            }
            known = self.define_text(text, name, None, names, defaults)
            self._functions[cls] = known
        return known

    def operator(self, overload) -> ScriptFunction:
        """Function compiled code calls for an operator that Python defined."""
        known = self._functions.get(overload)
        if known is None:
            parameters, result, defaults = signature_of(overload)
            given = "".join(f"{p.partition(':')[0]}, " for p in parameters)
            call = f"__call_foreign(__function, ({given}))"
            if result != "None":
                call = f"return __unchecked_cast({result}, {call})"
            name = f"__torch__.{overload}".replace(".", "_")
            text = f"def {name}({', '.join(parameters)}) -> {result}:\n    {call}\n"
            names = {**NAMES, "torch": hotaru, "Tensor": hotaru.Tensor}
            names["__function"] = Foreign(overload)
            known = self.define_text(text, name, None, names, defaults)
            self._functions[overload] = known
        return known

    # --- types ---

    def named_type(self, text: str):
        """The type that a name of the language stands for."""
        return self.unit.parse_type(text, "<type>", Resolver({}, self))

    def type_of_annotation(self, annotation, names: dict | None = None):
        """The type of an annotation, evaluated or as text.

        `names` are what text may refer to.
        """
        names = dict(names or {})
        text = _type_text(annotation, names)
        return self.unit.parse_type(text, "<annotation>", Resolver(names, self))

    def class_type(self, cls: type, near: dict | None = None):
        """The type of an Enum, a NamedTuple or a class with source.

        `near` are names where the class is written, which its annotations may
        use though its methods are no closures over them.
        """
        known = self._classes.get(cls)
        if known is None:
            known = (
                self._enum(cls)
                or self._named_tuple(cls)
                or self._class(cls, near or {})
            )
        return known

    def instance(self, obj, near: dict):
        """The object as compiled code has it: both sides see what is assigned."""
        cls = type(obj)
        self.class_type(cls, near)
        same = self.define_text(
            "def same(x: __Class) -> __Class:\n    return x\n",
            f"{_qualified_name(cls)}.same",
            None,
            {"__Class": cls},
        )
        return same(obj)

    def _enum(self, cls: type):
        if not issubclass(cls, enum.Enum):
            return None
        members = [(member.name, member.value) for member in cls]
        by_value = issubclass(cls, (int, float, str))
        self._classes[cls] = _C._script_enumeration(
            _UNIT, _qualified_name(cls), members, by_value
        )
        enums.register(self._classes[cls].name, cls)
        return self._classes[cls]

    def _named_tuple(self, cls: type):
        if not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
            return None
        hints = own_annotations(cls)
        names = module_names(cls)
        tensor = self.named_type("Tensor")
        defaults = list(getattr(cls, "_field_defaults", {}).values())
        if any(isinstance(value, hotaru.Tensor) for value in defaults):
            raise RuntimeError(
                "Tensors are not supported as default NamedTuple fields. Their "
                "mutability could lead to potential memory aliasing problems"
            )
        types = [
            self._field(cls, hints[field], names) if field in hints else tensor
            for field in cls._fields
        ]
        known = _UNIT.named_tuple(
            _qualified_name(cls), list(cls._fields), types, defaults
        )
        self._classes[cls] = known
        tuples.register(known.name, cls, known.ir)
        return known

    def _field(self, cls: type, hint, names: dict):
        try:
            return self.type_of_annotation(hint, names)
        except RuntimeError as error:
            if not str(error).startswith("Unknown type name"):
                raise
            raise UnknownAnnotationError(
                f"Unknown type annotation: '{hint}' in NamedTuple {cls.__name__}. "
                "Likely due to partial support for ForwardRef parameters in "
                "NamedTuples. Issue occurred at"
            ) from None

    def _class(self, cls: type, near: dict):
        if not _has_source(cls):
            raise RuntimeError(
                "python value of type 'type' cannot be used as a value. "
                "Perhaps it is a closed over global variable? If so, please "
                "consider passing it in as an argument or use a local variable "
                f"instead: class {cls.__module__}.{cls.__qualname__}"
            )
        if cls.__bases__ != (object,):
            raise RuntimeError(
                "TorchScript class does not support inheritance, and "
                f"{cls.__module__}.{cls.__qualname__} inherits from "
                f"{', '.join(base.__qualname__ for base in cls.__bases__)}"
            )
        name = _qualified_name(cls)
        native = _C._script_define_class(_UNIT, name, "object")
        self._classes[cls] = native.type
        defined = {}
        names = {**module_names(cls), cls.__name__: cls}
        # A class inside of a function knows itself only by its name.
        near = {k: v for k, v in near.items() if k not in names}
        near[cls.__name__] = cls

        native.set_member_loader(_Members(cls, self).load)

        def add(method: str, value) -> None:
            full = f"{name}.{method}"
            if isinstance(value, str):
                made = method == "__init__"
                defaults = defaults_of_dataclass(cls) if made else {}
                defined[method] = self.define_text(value, full, native, names, defaults)
            else:
                defined[method] = self.define_marked(value, full, native, near)
            native.add_method(method, defined[method])

        try:
            for method, value in _methods_of(cls, names).items():
                if isinstance(value, property):
                    native.add_property(method)
                    if value.fset is not None:
                        add(setter_name(method), value.fset)
                    value = value.fget
                add(method, value)
            # Assignments in __init__ say which attributes there are.
            if "__init__" in defined:
                native.set_open(True)
                defined["__init__"]._compile()
                native.set_open(False)
            for method in defined.values():
                method._compile()
            # Its instances can be handed to compiled functions.
            cls.__hotaru_script_class__ = native
        except Exception:
            del self._classes[cls]
            raise
        return native.type


SCRIPTER = Scripter(_UNIT)


def setter_name(name: str) -> str:
    """Name that the compiler has for the function that sets a property."""
    return f"__{name}_setter"


def _has_source(cls: type) -> bool:
    return cls.__module__ != "builtins" and hasattr(
        module_of(cls.__module__), "__file__"
    )


# Functions by which classes make their annotations, from Python 3.14 on.
_MAKERS = ("__annotate__", "__annotate_func__")


def _methods_of(cls: type, names: dict) -> dict:
    """Name and function, property or, of dataclasses, source.

    `names` receives what names in sources stand for.
    """
    methods = {
        name: value
        for name, value in vars(cls).items()
        if (inspect.isfunction(value) or isinstance(value, property))
        and name not in _MAKERS
        and _marks.mark_of(value) != _marks.DROP
    }
    if not dataclasses.is_dataclass(cls):
        return methods
    return {
        name: value
        for name, value in methods.items()
        if isinstance(value, property) or not is_made(value)
    } | methods_of_dataclass(cls, lambda given: _type_text(given, names))


def _qualified_name(value, short: str = "") -> str:
    """Name of a function or class in programs; `short` replaces its own."""
    own = short or value.__name__
    name = getattr(value, "__module__", None) or "__main__"
    if name == "__main__":
        return f"__torch__.{own}"
    first, dot, rest = name.partition(".")
    first = "torch" if first == "hotaru" else first
    # Modules of a package get a name of their own, that sources can have.
    first = first.replace("<", "_").replace(">", "_")
    return f"__torch__.{first}{dot}{rest}.{own}"


def _defaults(function, source) -> dict:
    defaults = defaults_of(function)
    for name, value in defaults.items():
        if _is_mutable(value):
            raise RuntimeError(
                "Mutable default parameters are not supported because Python "
                "binds them to the function and they persist across function "
                "calls.\n As a workaround, make the default None and "
                "instantiate the default parameter within the body of the "
                f"function. Found {type(value)} on parameter {name}:\n"
                f'  File "{source.file}", line {source.line}'
            )
        try:
            _UNIT.type_of(value)
        except TypeError as error:
            raise RuntimeError(
                f"the default of parameter {name!r} of "
                f"{function.__qualname__!r}: {error}\n"
                f'  File "{source.file}", line {source.line}'
            ) from None
    return defaults


def _by_position(function, by_name: list):
    """The function, with its last arguments, of these names, by position."""
    if not by_name:
        return function
    count = len(by_name)

    def called(*args):
        return function(*args[:-count], **dict(zip(by_name, args[-count:])))

    return called


def _giving_tensors(function):
    """The function, whose result is a tensor for want of an annotation: no tensor
    where it returns nothing.
    """

    def called(*args):
        result = function(*args)
        return hotaru.empty(0) if result is None else result

    return called


def _fitting(defaults: dict, declared) -> dict:
    """The defaults that are of the declared types: others are not for it."""
    comment = None if declared.__annotations__ else type_comment(declared)
    if comment:
        return {k: v for k, v in defaults.items() if v is not None}
    out = {}
    for name, value in defaults.items():
        wanted = declared.__annotations__.get(name, hotaru.Tensor)
        text = wanted if isinstance(wanted, str) else str(wanted)
        if value is None:
            fits = wanted in (None, type(None)) or "None" in text
            fits = fits or "Optional" in text
        elif isinstance(wanted, type):
            kinds = (int, float) if wanted is float else (wanted,)
            fits = isinstance(value, kinds) and (
                wanted is bool or not isinstance(value, bool)
            )
        else:
            fits = type(value).__name__ in text.lower()
        if fits:
            out[name] = value
    return out


def _is_mutable(value) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_mutable, value))
    return isinstance(value, (list, dict))


def _check_parameters(function) -> None:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            what = f"*{parameter.name}"
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            what = f"**{parameter.name}"
        else:
            continue
        source = source_of(function)
        raise NotSupportedError(
            "Compiled functions can't take variable number of arguments or "
            f"use keyword-only arguments with defaults: {what} of "
            f"{function.__qualname__!r}\n"
            f'  File "{source.file}", line {source.line}'
        )


def _type_text(annotation, names: dict) -> str:
    """The annotation as source; `names` receives what its names stand for."""
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, typing.ForwardRef):
        return annotation.__forward_arg__
    origin = typing.get_origin(annotation)
    if origin is None:
        name = getattr(annotation, "__name__", None) or str(annotation)
        while names.setdefault(name, annotation) is not annotation:
            name += "_"
        return name
    items = [_type_text(a, names) for a in typing.get_args(annotation)]
    name = getattr(origin, "__name__", None) or "Union"
    if origin is tuple and not items:
        items = ["()"]
    name = {"UnionType": "Union", "_Await": "Await"}.get(name, name)
    return f"__{name}[{', '.join(items)}]"
