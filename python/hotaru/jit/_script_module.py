"""Modules compiled from their source: attributes, types and methods."""

from __future__ import annotations

import inspect
import types

from .. import _C, nn
from .._own_names import is_own
from .._utils import typename
from ..nn.modules._arguments import LayerFunction, weight_and_bias
from . import _marks
from ._compilation_unit import check_new, define_text
from ._instance_annotations import warn_of_annotations
from ._library import modules as _modules
from ._members import BASES, Kind, Members, ignored
from ._module import RecursiveScriptModule
from ._resolve import Resolver
from ._scripter import _UNIT, SCRIPTER, _qualified_name, setter_name
from ._source import named, surroundings
from ._tracing.inputs import why_untyped

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
    for name in ignored(module):
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
        members = Members(module, self)
        cls = self._define(module, members)
        return cls.make_module(members.values), self._pending.pop()

    def _build(self, module: nn.Module):
        hooks = () if self._traced else _hooks_of(module)
        members = Members(module, self)
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

    def _define(self, module: nn.Module, members: Members, hooks=()):
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


_COUNTED = ("__len__", "__contains__")
_COUNTING = {base for kind in (*_LISTS, *_DICTS) for base in kind.__mro__}


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
        if name in _COUNTED and _home(self._python, name) in _COUNTING:
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
                    value = Kind(type, why_untyped(value))
            if not isinstance(value, Kind):
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
        if base in BASES:
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


def _unusable(python: type, name: str, kind: Kind) -> str:
    return (
        f"Module '{python.__name__}' has no attribute '{name}' (This "
        "attribute exists on the Python module, but we failed to convert "
        f"Python type: '{kind.type.__name__}' to a TorchScript type."
        f"{kind.reason} Its "
        "type was inferred; try adding a type annotation for the attribute.)"
    )
