"""Objects of archives' classes. Those of modules have the questions that
`RecursiveScriptModule` puts to a native module.
"""

from __future__ import annotations

import ast

import hotaru

from ... import _C
from ..._quantized.packed import Packed
from ...nn import Module, Parameter
from .pickles import Attributes


class Object:
    """An object of a class that an archive defines."""

    qualified = ""
    container = ""

    def __init__(self, *args, **kwargs) -> None:
        self.values: dict = {}
        if "__init__" in self.methods:
            self.call("__init__", *args, **kwargs)

    def __setstate__(self, state) -> None:
        self.values = {}
        if "__setstate__" in self.methods:
            self.call("__setstate__", state)
            return
        if not isinstance(state, dict):
            raise RuntimeError(f"the state of '{self.qualified}' is not a dict")
        for name in self.kinds:
            optional = self.kinds[name].startswith(("Optional", "NoneType"))
            if name not in state and not optional:
                raise RuntimeError(
                    f"'{self.qualified}' has no value for attribute '{name}'"
                )
            self.values[name] = self._kept(name, state.get(name))

    def _kept(self, name: str, value):
        plain = isinstance(value, _C.Tensor) and type(value) is not Parameter
        if plain and name in self.parameter_names:
            return Parameter(value.detach(), value.requires_grad)
        return value

    def described(self) -> tuple:
        """The class's name and the state that a file gets."""
        if "__getstate__" in self.methods:
            return self.qualified, self.call("__getstate__")
        kept = {name: self.values.get(name) for name in self.kinds}
        return self.qualified, Attributes(kept)

    def call(self, method: str, *args, **kwargs):
        """Calls a method of the program."""
        return self.function(method)(self, *args, **kwargs)

    def function(self, name: str):
        """The function behind a method."""
        made = self._functions.get(name)
        if made is None:
            made = self.program.function(self.methods[name], f"{self.qualified}.{name}")
            self._functions[name] = made
        return made

    def get(self, name: str):
        """An attribute, constant or method. RuntimeError: there is none."""
        if name in self.values:
            return self.values[name]
        if name in self.constants:
            return self.constants[name]
        if name in self.methods:
            return lambda *args, **kwargs: self.call(name, *args, **kwargs)
        raise RuntimeError(f"'{self.qualified}' has no attribute '{name}'")

    def put(self, name: str, value) -> None:
        """Assigns an attribute."""
        self.values[name] = self._kept(name, value)

    def __eq__(self, other) -> bool:
        if "__eq__" in self.methods:
            return self.call("__eq__", other)
        return self is other

    def __hash__(self) -> int:
        return id(self)


class Method:
    """A method of a module, as Python sees it."""

    def __init__(self, owner: InterpretedModule, name: str) -> None:
        self.owner, self.name = owner, name
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        args = [_inner(a) for a in args]
        kwargs = {key: _inner(value) for key, value in kwargs.items()}
        return _outer(self.owner.call(self.name, *args, **kwargs))

    @property
    def code(self) -> str:
        """The text of the method."""
        return self.owner.code(self.name)

    def _no_graph(self):
        raise NotImplementedError(
            f"{self.owner.qualified}.{self.name}: the program has quantised or "
            "nested tensors, so Python runs it and there is no graph; see .code"
        )

    graph = inlined_graph = property(_no_graph)


class InterpretedModule(Object):
    """A module; methods are those of a native one."""

    def face(self):
        """The module as Python sees it."""
        if not hasattr(self, "_face"):
            self._face = hotaru.jit.RecursiveScriptModule._wrap(self)
        return self._face

    @property
    def type_name(self) -> str:
        return self.qualified

    class_type = script_class = type_name

    def has_attribute(self, name: str) -> bool:
        return name in self.values or name in self.constants

    def attribute(self, name: str):
        return _outer(self.get(name))

    def attributes(self) -> list:
        return [(name, _outer(value)) for name, value in self.values.items()]

    def set_attribute(self, name: str, value) -> None:
        value = _inner(value)
        if isinstance(self.values.get(name), _C.Tensor) and not isinstance(
            value, (_C.Tensor, type(None))
        ):
            raise TypeError(
                f"attribute '{name}' of '{self.qualified}' is a tensor, not "
                f"{type(value).__name__!r}"
            )
        self.put(name, value)

    def has_method(self, name: str) -> bool:
        return name in self.methods

    def method_names(self) -> list:
        return list(self.methods)

    def method(self, name: str) -> Method:
        return Method(self, name)

    def hooks(self, before: bool) -> list:
        names = self.hook_names[0 if before else 1]
        return [
            lambda module, *args, name=name: _outer(self.call(name, *map(_inner, args)))
            for name in names
        ]

    def _children(self) -> list:
        return [
            (name, value)
            for name, value in self.values.items()
            if isinstance(value, InterpretedModule)
        ]

    def named_children(self) -> list:
        return [(name, child.face()) for name, child in self._children()]

    def _tensors(self, kinds: str, recurse: bool, prefix: str = "") -> list:
        names = getattr(self, kinds)
        found = [
            (prefix + name, self.values[name])
            for name in names
            if isinstance(self.values.get(name), _C.Tensor)
        ]
        if recurse:
            for name, child in self._children():
                found += child._tensors(kinds, True, f"{prefix}{name}.")
        return found

    def named_parameters(self, recurse: bool = True) -> list:
        return self._tensors("parameter_names", recurse)

    def named_buffers(self, recurse: bool = True) -> list:
        return self._tensors("buffer_names", recurse)

    def modules(self) -> list:
        """This module and all below it, each once."""
        found, seen = [], set()

        def visit(module) -> None:
            if id(module) not in seen:
                seen.add(id(module))
                found.append(module)
                for _, child in module._children():
                    visit(child)

        visit(self)
        return found

    def train(self, on: bool) -> None:
        for module in self.modules():
            if "training" in module.values:
                module.values["training"] = on

    def to(self, device, dtype) -> None:
        for module in self.modules():
            for name in (*module.parameter_names, *module.buffer_names):
                value = module.values.get(name)
                if not isinstance(value, _C.Tensor):
                    continue
                wanted = dtype if value.is_floating_point() else None
                value.data = value.data.to(device=device, dtype=wanted)

    def same(self, other) -> bool:
        return self is other

    def is_from(self, unit) -> bool:
        return False

    def copy(self) -> InterpretedModule:
        return copied(self, {})

    def code(self, name: str) -> str:
        if name not in self.methods:
            raise RuntimeError(f"'{self.qualified}' has no method '{name}'")
        module = self.qualified.rpartition(".")[0]
        return self.program.text_of(self.methods[name], module) + "\n"

    def code_with_constants(self, name: str) -> tuple:
        return self.code(name), list(self.program.constants)

    def freeze(self, preserved: list) -> InterpretedModule:
        """A copy without parameters and buffers: tensors are attributes."""
        made = copied(self, {})
        none = {"parameter_names": (), "buffer_names": ()}
        for each in made.modules():
            kind = type(each)
            each.__class__ = type(kind.__name__, (kind,), none)
            for name, value in each.values.items():
                if isinstance(value, _C.Tensor):
                    each.values[name] = value.detach()
        return made

    def save_file(self, path: str, extra: dict) -> None:
        data = self._archive(extra)
        with open(path, "wb") as file:
            file.write(data)

    def save_stream(self, write, extra: dict) -> None:
        write(self._archive(extra))

    def _archive(self, extra: dict) -> bytes:
        from .saving import archive_of

        return archive_of(self, extra)


def _inner(value):
    """A value as programs have it."""
    if isinstance(value, Module):
        return getattr(value, "_c", value)
    if type(value) in (list, tuple):
        return type(value)(map(_inner, value))
    return value


def _outer(value):
    """A value as Python has it."""
    if isinstance(value, InterpretedModule):
        return value.face()
    if type(value) is tuple:
        return tuple(map(_outer, value))
    if isinstance(value, list):
        return [_outer(v) for v in value]
    if isinstance(value, dict):
        return {key: _outer(v) for key, v in value.items()}
    return value


def copied(value, memo: dict):
    """A value with copies of all tensors and objects in it."""
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, Parameter):
        made = Parameter(value.detach().clone(), value.requires_grad)
    elif isinstance(value, _C.Tensor):
        made = value.detach().clone()
    elif isinstance(value, Packed):
        made = value  # which nobody changes
    elif isinstance(value, Object):
        made = memo[id(value)] = type(value).__new__(type(value))
        made.values = {k: copied(v, memo) for k, v in value.values.items()}
    elif isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        made = type(value)(copied(v, memo) for v in value)
        if hasattr(value, "kind"):
            made.kind = value.kind
    elif isinstance(value, dict):
        made = type(value)((k, copied(v, memo)) for k, v in value.items())
        if hasattr(value, "kind"):
            made.kind = value.kind
    else:
        return value
    memo[id(value)] = made
    return made


def make_class(program, node: ast.ClassDef, qualified: str) -> type:
    """The Python class of a class in an archive."""
    bases = [b.id for b in node.bases if isinstance(b, ast.Name)]
    kinds: dict = {}
    facts: dict = {"__parameters__": [], "__buffers__": []}
    constants: dict = {}
    methods: dict = {}
    for part in node.body:
        if isinstance(part, ast.FunctionDef):
            methods[part.name] = part
        elif isinstance(part, ast.AnnAssign):
            name = part.target.id
            kinds[name] = ast.unparse(part.annotation)
            if kinds[name].startswith("Final[") and part.value is not None:
                constants[name] = _literal(part.value)
                del kinds[name]
        elif isinstance(part, ast.Assign):
            target = part.targets[0]
            if isinstance(target, ast.Name):
                facts[target.id] = _literal(part.value)
            elif isinstance(target, ast.Subscript):
                # __annotations__["0"] = type, of names that are no words.
                kinds[ast.literal_eval(target.slice)] = ast.unparse(part.value)
    if bases[:1] == ["NamedTuple"]:
        return _named_tuple(node, qualified, kinds)
    if bases[:1] in (["Enum"], ["Interface"], ["ModuleInterface"]):
        raise RuntimeError(
            f"{qualified}: a program that Python runs has no {bases[0].lower()} classes"
        )
    base = InterpretedModule if bases[:1] == ["Module"] else Object
    return type(
        node.name,
        (base,),
        {
            "__module__": __name__,
            "qualified": qualified,
            "program": program,
            "kinds": kinds,
            "constants": constants,
            "methods": methods,
            "parameter_names": tuple(facts["__parameters__"]),
            "buffer_names": tuple(facts["__buffers__"]),
            "hook_names": (
                tuple(facts.get("__forward_pre_hooks__", ())),
                tuple(facts.get("__forward_hooks__", ())),
            ),
            "_functions": {},
        },
    )


def _literal(node):
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        names = {"inf": float("inf"), "nan": float("nan")}
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]
        text = ast.unparse(node)
        if text == "-inf":
            return -float("inf")
        raise RuntimeError(f"{text} is no constant") from None


def _named_tuple(node, qualified: str, kinds: dict) -> type:
    import collections

    made = collections.namedtuple(node.name, list(kinds))
    made.qualified = qualified
    return made
