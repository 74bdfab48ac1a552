"""Modules compiled from their source: attributes, types and methods."""

from __future__ import annotations

import inspect
import types
import typing

from .. import _C, nn
from .._own_names import is_own
from .._utils import typename
from ..nn.modules._arguments import LayerFunction, weight_and_bias
from . import _marks
from ._attribute_types import class_of, type_of
from ._compilation_unit import check_new, define_text
from ._instance_annotations import warn_of_annotations
from ._library import modules as _modules
from ._module import RecursiveScriptModule, ScriptModule
from ._resolve import Resolver
from ._scripter import _UNIT, SCRIPTER, _qualified_name, setter_name
from ._source import module_names, named, surroundings
from ._tracing.inputs import why_untyped

# Attributes that every nn.Module has and no program means.
_INTERNAL = {
    *vars(nn.Module()),
    "call_super_init",
    "dump_patches",
    "_hooked",
    "_script_sources",
} - {"training"}
_CONSTANTS = (bool, float, int, str, type(None), _C.device, _C.layout, _C.dtype)
_BASES = {ScriptModule, *nn.Module.__mro__}
_LISTS = (nn.ModuleList, nn.Sequential, nn.ParameterList)
_DICTS = (nn.ModuleDict, nn.ParameterDict)
# Their methods have a meaning of their own.
_CONTAINERS = {*_LISTS, *_DICTS, *nn.ModuleList.__mro__[1:2]}
# The method that stands for the function in compiled modules.
_WEIGHT_AND_BIAS = "_weight_and_bias"


# Classes by what makes them: compiled once, for all modules that are alike.
_SHARED: dict = {}


def script_module(module: nn.Module) -> RecursiveScriptModule:
    """The compiled module; the caller holds the unit's lock."""
    if "_parameters" not in vars(module):
        raise RuntimeError(
            f"'{typename(type(module))}' has not been initialized, did you "
            "forget to call 'super()'?"
        )
    warn_of_annotations(module)
    builder = _Builder()
    try:
        native = builder.build(module)
        builder.compile()
    except BaseException:
        builder.forget()
        raise
    return finished(module, native)


def prepared(obj):
    """Returns what an object says shall be compiled in its place, or itself."""
    prepare = getattr(obj, "__prepare_scriptable__", None)
    return obj if prepare is None else prepare()


def define_methods(native, text: str, names: dict) -> None:
    """Adds methods from source to the class of a compiled module."""
    if not native.is_from(_UNIT):
        raise RuntimeError(
            "define(): modules loaded from archives take no more methods"
        )
    with _UNIT:
        # Modules that are made later have no such methods.
        for key, (cls, _) in list(_SHARED.items()):
            if cls.name == native.script_class.name:
                del _SHARED[key]
        for method in add_methods(native.script_class, text, names):
            method._compile()


def add_methods(cls, text: str, names: dict) -> list:
    """Parses methods from source and gives them to the class."""
    methods = define_text(text, cls.name, names, cls)
    for method in methods:
        check_new(method.name, cls.has_method(method.name))
        cls.add_method(method.name, method)
    return methods


RecursiveScriptModule._define = staticmethod(define_methods)


def finished(module: nn.Module, native) -> RecursiveScriptModule:
    """The native module as Python sees it."""
    out = RecursiveScriptModule._wrap(native)
    # As long as their Python objects live, they are Parameters.
    object.__setattr__(out, "_originals", list(module.parameters()))
    for name in dir(type(module)):
        method = _static(type(module), name)
        if inspect.isfunction(method) and (
            _marks.mark_of(method) in (_marks.IGNORE, _marks.UNUSED)
            or (_marks.is_copied(method) and not native.has_method(name))
        ):
            object.__setattr__(out, name, types.MethodType(method, out))
    for name in _ignored(module):
        # A property stays what it is in the class.
        kept = inspect.getattr_static(type(module), name, None)
        if isinstance(kept, property) or hasattr(module, name):
            value = kept if isinstance(kept, property) else getattr(module, name)
            object.__setattr__(out, name, value)
    for name, method in _own_methods(module):
        if _marks.mark_of(method) in (_marks.IGNORE, _marks.UNUSED):
            object.__setattr__(out, name, types.MethodType(method, out))
    return out


class _Builder:
    """One call of `script`: a module object gets one counterpart."""

    def __init__(self, traced: bool = False) -> None:
        self._traced = traced  # hooks have left their trace already
        self._made: dict = {}
        self._new: list = []  # keys of classes that are not compiled yet
        self._pending: list = []

    def build(self, module: nn.Module):
        """The native module with its attributes; its code comes later."""
        known = self._made.get(id(module))
        if known is not None:
            return known[0]
        given = module
        if not self._traced:
            module = prepared(module)
        if isinstance(module, RecursiveScriptModule):
            native = module._c
            if not native.is_from(_UNIT):
                from ._imported import imported

                native = imported(native)
        else:
            native = self._build(module)
        # The module is kept, for its id() must stay its own.
        self._made[id(given)] = (native, given)
        return native

    def build_open(self, module: nn.Module):
        """The native module, of a class of its own without methods yet."""
        members = _Members(module, self)
        cls = self._define(module, members)
        return cls.make_module(members.values), self._pending.pop()

    def _build(self, module: nn.Module):
        hooks = () if self._traced else _hooks_of(module)
        members = _Members(module, self)
        sources = vars(module).get("_script_sources", ())
        texts = tuple(text for text, _ in sources)
        # Classes of a trace have attributes alone, and no methods.
        key = (*members.key(), hooks, texts, self._traced)
        shared = _SHARED.get(key)
        if shared is None:
            cls = self._define(module, members, hooks)
            # With what the key holds by its id() alone.
            shared = _SHARED[key] = (cls, members.failed)
            self._new.append(key)
        return shared[0].make_module(members.values)

    def forget(self) -> None:
        """Leaves nothing of classes that did not compile."""
        for key in self._new:
            _SHARED.pop(key, None)

    def _define(self, module: nn.Module, members: _Members, hooks=()):
        python = type(module)
        cls = _C._script_define_class(_UNIT, _qualified_name(python), "module")
        for attribute, (type_, parameter, buffer) in members.types.items():
            cls.add_attribute(attribute, type_, parameter, buffer)
        for constant, value in members.constants.items():
            cls.add_constant(constant, value)
        if isinstance(module, _DICTS):
            cls.set_container("dict")
        elif isinstance(module, _LISTS):
            cls.set_container("list")
        methods = _Methods(cls, module, members.failed)
        cls.set_member_loader(methods.load)
        for hook, before in hooks:
            methods.add_hook(hook, before)
        self._pending.append(methods)
        return cls

    def compile(self) -> None:
        """Compiles forward and exported methods of every class."""
        for methods in self._pending:
            methods.compile()

    def compile_exported(self, first: _Methods) -> None:
        """The same of traced modules: exported methods alone."""
        for methods in (first, *self._pending):
            methods.compile_exported()


class _Kind:
    """Stands for all values of a type that TorchScript has not, for a reason."""

    def __init__(self, type_: type, reason: str) -> None:
        self.type, self.reason = type_, reason


_KINDS: dict[tuple, _Kind] = {}
_COUNTED = ("__len__", "__contains__")
_CONTAINERS = {
    base
    for kind in (
        nn.ModuleDict,
        nn.ModuleList,
        nn.ParameterDict,
        nn.ParameterList,
        nn.Sequential,
    )
    for base in kind.__mro__
}


class _Members:
    """A module's attributes, sorted into what the class knows of them."""

    def __init__(self, module: nn.Module, builder: _Builder) -> None:
        self.types: dict = {}
        self.values: dict = {}
        self.constants: dict = {}
        self.failed: dict = {}
        self._module = module
        self._names = module_names(type(module))
        self._annotations = _class_annotations(type(module))
        self._constants = _constant_names(type(module), self._annotations)
        self._ignored = frozenset(_ignored(module))
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
            types,
            repr(self.constants),
            tuple((k, id(v)) for k, v in self.failed.items()),
            self._ignored,
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
            value = _KINDS.setdefault(key, _Kind(*key))
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


def _ignored(module) -> tuple:
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


class _Methods:
    """Finds the methods of one class when the compiler first needs them.

    It lives as long as the class, so it does not hold the module.
    """

    def __init__(self, cls, module: nn.Module, failed: dict) -> None:
        self._cls = cls
        self._python = type(module)
        recurrent = isinstance(module, nn.RNNBase)
        self._weights = module._flat_weights_names if recurrent else ()
        self._failed = failed
        self._defined: dict = {}
        self._bound = dict(_own_methods(module))
        self._homes: dict = {}  # the class and function of each method
        self._overloaded: dict = {}
        self._hooks: dict = {}
        # Methods that the module was given as source; all of them are compiled.
        self._from_text: list = []
        for text, names in vars(module).get("_script_sources", ()):
            added = add_methods(cls, text, names)
            self._from_text += added
            self._defined.update((method.name, method) for method in added)

    def compile(self) -> None:
        """Compiles forward and the exported methods, and what they call."""
        names = self._exported()
        forward = self._bound.get("forward") or _find(self._python, "forward")
        unmarked = forward is not None and not _marks.mark_of(forward)
        if inspect.isfunction(forward):
            _marks.overloads_of(forward)  # which it refuses to be one of
        if unmarked and "forward" not in self._defined:
            names.insert(0, "forward")
        for name in names:
            if self._define(name) is not None:
                self._defined[name]._compile()
        for method in self._from_text:
            method._compile()
        for name in self._hooks:
            self._defined[name]._compile()
        self._cls.check_hooks()

    def _exported(self) -> list[str]:
        python = self._python
        return [
            name
            for name in dir(python)
            if _marks.mark_of(_static(python, name)) == _marks.EXPORT
        ]

    def compile_exported(self) -> None:
        """Compiles the exported methods that a trace has not given."""
        for name in self._exported():
            if name not in self._defined and self._define(name) is not None:
                self._defined[name]._compile()

    def add_hook(self, hook, before: bool) -> None:
        """Makes a function run before or after forward."""
        function = getattr(hook, "__func__", hook)
        name = getattr(function, "__name__", type(hook).__name__)
        known = self._hooks.get(name)
        python = self._python
        if _find(python, name) not in (None, function):
            raise RuntimeError(
                f"Can't define hook: {name} on class: {self._cls.name} because "
                "a method or hook with that name already exists."
            )
        if known not in (None, function):
            raise RuntimeError(
                f"{'Pre-hook' if before else 'Hook'} '{name}' on "
                f"{python.__name__} has at least two different python "
                "definitions. Please use unique names for all hooks."
            )
        if known is None:
            full = f"{self._cls.name}.{name}"
            self._hooks[name] = function
            self._defined[name] = SCRIPTER.define(function, full, self._cls)
            self._cls.add_method(name, self._defined[name])
        self._cls.add_hook(self._defined[name], before)

    def define_text(self, name: str, text: str, names: dict) -> None:
        """Adds and compiles a method whose source was put together."""
        full = f"{self._cls.name}.{name}"
        method = SCRIPTER.define_text(text, full, self._cls, names)
        self._defined[name] = method
        self._cls.add_method(name, method)
        method._compile()

    def load(self, name: str, method: str = "", cls: str = "") -> tuple:
        """Tells what `self.name` means, for names that are no attribute.

        With a method: what `super().name` means in it, or with a class
        `super(cls, self).name`.
        """
        if method:
            return self._load_super(name, method, cls)
        if name in _COUNTED and _home(self._python, name) in _CONTAINERS:
            return ("unknown",)  # the compiler knows what these hold
        found = _find(self._python, name)
        if isinstance(found, staticmethod):
            return Resolver({}, SCRIPTER).meaning(found.__func__, name)
        if isinstance(found, LayerFunction):
            return Resolver({}, SCRIPTER).meaning(found.fget(None), name)
        overloads = self._overloads(name, found)
        if overloads:
            return ("overloads", overloads)
        method = self._define(name)
        if method is not None:
            return ("function", method)
        if name in getattr(self._python, "__jit_ignored_attributes__", ()):
            return (
                "error",
                f"Module '{self._python.__name__}' has no attribute '{name}' (This "
                "attribute exists on the Python module, but the attribute was "
                "ignored during compilation.)",
            )
        if name in self._failed:
            value = self._failed[name]
            if isinstance(value, type):
                try:
                    return Resolver({}, SCRIPTER).meaning(value, name)
                except RuntimeError:
                    value = _Kind(type, why_untyped(value))
            if not isinstance(value, _Kind):
                return self._compiled(name, Resolver({}, SCRIPTER).meaning(value, name))
            return ("error", _unusable(self._python, name, value))
        return ("unknown",)

    def _compiled(self, name: str, meaning: tuple) -> tuple:
        """The meaning, or an error if it is a function that does not compile."""
        if meaning[0] != "function":
            return meaning
        try:
            meaning[1]._compile()
        except RuntimeError as error:
            return (
                "error",
                f"Module '{self._python.__name__}' has no attribute '{name}' (This "
                "function exists as an attribute on the Python module, but we failed "
                "to compile it to a TorchScript function. \nThe error stack is "
                f"reproduced here:\n{error})",
            )
        return meaning

    def _overloads(self, name: str, found) -> list:
        """The method once for each signature that is declared for it."""
        declared = inspect.isfunction(found) and _marks.overloads_of(found)
        if declared and name not in self._overloaded:
            self._overloaded[name] = []
            for i, one in enumerate(declared):
                own = f"{name}__{i}"
                method = SCRIPTER.define_overload(
                    one, found, f"{self._cls.name}.{own}", self._cls
                )
                self._homes[own] = (_home(self._python, name), found)
                self._defined[own] = method
                self._cls.add_method(own, method)
                self._overloaded[name].append(method)
        return self._overloaded.get(name, [])

    def _load_super(self, name: str, method: str, cls: str) -> tuple:
        python = self._python
        after, function = self._homes.get(method, (python, None))
        if cls:
            after = named(cls, surroundings(function))
            if after not in python.__mro__:
                return (
                    "error",
                    "super(type, obj): obj must be an instance or subtype of type",
                )
        base = _home(python, name, after)
        if base is None:
            return ("unknown",)
        if base is _home(python, name):
            return ("function", self._define(name))
        own = f"{name}_of_{base.__name__}"
        while self._homes.get(own, (base,))[0] is not base or hasattr(python, own):
            own += "_"
        return ("function", self._define(own, name, base))

    def _define(self, name: str, original: str = "", base=None):
        """The method, compiled under `name`; its own name is `original`.

        It is that of `base`, by default of the first class that has one.
        """
        known = self._defined.get(name)
        if known is not None:
            return known
        cls = self._cls
        full = f"{cls.name}.{name}"
        if name == "_flat_weights" and issubclass(self._python, nn.RNNBase):
            weights = [f"self.{n}" for n in self._weights]
            text = f"def {name}(self):\n    return [{', '.join(weights)}]\n"
            function = SCRIPTER.define_text(text, full, cls)
            cls.add_property(name)
        elif name == _WEIGHT_AND_BIAS:
            found = _modules.weight_and_bias
            function = SCRIPTER.define_marked(found, full, cls)
        else:
            original = original or name
            base = base or _home(self._python, original)
            found = base and _own(base, original)
            if name == original and name in self._bound:
                base, found = self._python, self._bound[name]
            if found is None or isinstance(found, staticmethod):
                return None
            if isinstance(found, property):
                cls.add_property(name)
                if found.fset is not None:
                    self._add_setter(setter_name(name), found.fset)
                found = found.fget
            self._homes[name] = (base, found)
            names = self._functions_of_self(found)
            function = SCRIPTER.define_marked(found, full, cls, names)
        self._defined[name] = function
        cls.add_method(name, function)
        return function

    def _add_setter(self, name: str, function) -> None:
        full = f"{self._cls.name}.{name}"
        method = SCRIPTER.define_marked(function, full, self._cls)
        self._defined[name] = method
        self._cls.add_method(name, method)

    def _functions_of_self(self, method) -> dict:
        """Calls of a method with `self`: other methods, to the compiler."""
        name = "weight_and_bias"
        if (
            name not in method.__code__.co_names
            or method.__globals__.get(name) is not weight_and_bias
        ):
            return {}
        return {"weight_and_bias": self._define(_WEIGHT_AND_BIAS)}


def _find(python: type, name: str):
    """The method or property `name`, by the library's text if it has one."""
    base = _home(python, name)
    return base and _own(base, name)


def _home(python: type, name: str, after: type | None = None):
    """The first class, in the order of inheritance, that defines a method.

    With `after`, the first one behind that class. None if there is none, or
    the name stands for something else.
    """
    bases = python.__mro__
    if after is not None:
        bases = bases[bases.index(after) + 1 :]
    for base in bases:
        if base in _BASES:
            return None
        value = _own(base, name)
        if inspect.isfunction(value) or isinstance(value, (property, staticmethod)):
            return base
        if value is not None:
            return None
    return None


def _own(base: type, name: str):
    """Finds what the class itself, or the library for it, defines."""
    ours = is_own(base.__module__, "nn")
    value = _library(base.__name__, name) if ours else None
    if value is None and base not in _CONTAINERS:
        value = vars(base).get(name)
    return value


def _library(cls: str, name: str):
    known = vars(_modules).get(cls)
    if known is None or known.__module__ != _modules.__name__:
        return None
    return vars(known).get(name)


def _own_methods(module: nn.Module) -> list:
    """Name and function of methods that are bound to this object alone."""
    return [
        (name, value.__func__)
        for name, value in vars(module).items()
        if inspect.ismethod(value)
        and value.__self__ is module
        and inspect.isfunction(value.__func__)
    ]


def _static(cls: type, name: str):
    value = inspect.getattr_static(cls, name, None)
    if inspect.isfunction(value) or isinstance(value, property):
        return value
    return None


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
        if base in _BASES:
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
        ours = is_own(base.__module__, "nn")
        if not ours and "__annotations__" in vars(base):
            out.update(vars(base)["__annotations__"])
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
        if is_own(base.__module__, "nn") and base not in _BASES:
            # The package's own modules never change their options.
            return out | _Everything()
    return out


class _Everything(set):
    """A set that holds every name but `training`."""

    def __contains__(self, name) -> bool:
        return name != "training"

    def __ror__(self, other) -> _Everything:
        return self


def _check_initialized(module: nn.Module) -> None:
    """Raises RuntimeError for what waits for the shapes of a first call."""
    for what, members in (
        ("parameters", module._parameters),
        ("buffers", module._buffers),
    ):
        for name, value in members.items():
            if nn.parameter.is_lazy(value):
                raise RuntimeError(
                    f"'{typename(type(module))}' has uninitialized {what} "
                    f"{name}. Did you forget to run a forward pass?"
                )


def _hooks_of(module: nn.Module) -> tuple:
    """Pairs of a hook and whether it runs before forward, in their order."""
    _check_initialized(module)
    if (
        module._forward_hooks_with_kwargs
        or module._forward_pre_hooks_with_kwargs
        or module._forward_hooks_always_called
    ):
        raise RuntimeError(
            f"{type(module).__name__} has forward hooks that take keyword "
            "arguments or are called after errors; compiled modules know no "
            "such hooks"
        )
    return (
        *((hook, True) for hook in module._forward_pre_hooks.values()),
        *((hook, False) for hook in module._forward_hooks.values()),
    )


def _unusable(python: type, name: str, kind: _Kind) -> str:
    return (
        f"Module '{python.__name__}' has no attribute '{name}' (This "
        "attribute exists on the Python module, but we failed to convert "
        f"Python type: '{kind.type.__name__}' to a TorchScript type."
        f"{kind.reason} Its "
        "type was inferred; try adding a type annotation for the attribute.)"
    )
