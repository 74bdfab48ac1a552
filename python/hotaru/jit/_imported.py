"""Modules of archives as parts of modules that are compiled from source.

A program is one unit: what an archive defines is compiled again in the unit
that all scripts share, from the text that the archive would be saved with.
Tensors stay those of the module.
"""

from __future__ import annotations

import ast
import io
import zipfile

from .. import _C
from ._interpreted.objects import _literal
from ._interpreted.pickles import Reader
from ._resolve import UNKNOWN, Resolver
from ._scripter import _UNIT, SCRIPTER

_GENERIC = {"List", "Dict", "Tuple", "Optional", "Union", "Future"}


class _Space:
    """A namespace that only this archive has."""

    def __init__(self, path: str) -> None:
        self.path = path


class _Names(Resolver):
    """Meanings of names in the text of an archive."""

    def __init__(self, program: _Program, version: int) -> None:
        super().__init__({}, SCRIPTER)
        self._program = program
        self.version = version  # says which operators the names mean

    def _resolve(self, parent, name: str) -> tuple:
        if parent is None:
            if name in ("__torch__", "CONSTANTS"):
                return ("namespace", _Space(name), name)
            return ("generic" if name in _GENERIC else "language", name)
        if not isinstance(parent, _Space):
            return UNKNOWN
        if parent.path == "CONSTANTS":
            constants = self._program.constants
            return ("value", constants[int(name.removeprefix("c"))])
        path = f"{parent.path}.{name}"
        known = self._program.meaning(path)
        return known or ("namespace", _Space(path), path)


class _Program:
    """The text of an archive, with what of it is defined here already."""

    def __init__(self, native) -> None:
        data = io.BytesIO()
        native.save_stream(data.write, {})
        self._trees: dict = {}
        with zipfile.ZipFile(data) as archive:
            root = archive.namelist()[0].partition("/")[0]
            version = 0
            for name in archive.namelist():
                if name.endswith("version"):
                    version = int(archive.read(name))
                _, _, place = name.partition("/code/")
                if place.endswith(".py"):
                    text = archive.read(name).decode()
                    module = place.removesuffix(".py").replace("/", ".")
                    self._trees[module] = ast.parse(text).body
            self.constants = Reader(
                archive.read(f"{root}/constants.pkl"),
                self._no_class,
                lambda key: archive.read(f"{root}/constants/{key}"),
            ).load()
        self.classes: dict = {}
        self._attributes: dict = {}
        self._functions: dict = {}
        self.names = _Names(self, version)

    def _no_class(self, qualified: str):
        raise RuntimeError(f"a constant of class {qualified}")

    def node(self, qualified: str):
        """The definition of a name, or None."""
        module, _, short = qualified.rpartition(".")
        for node in self._trees.get(module, ()):
            if getattr(node, "name", None) == short:
                return node
        return None

    def meaning(self, qualified: str) -> tuple | None:
        """Tells what a name below __torch__ means, if it is defined."""
        if qualified in self.classes:
            return ("type", self.classes[qualified].type)
        node = self.node(qualified)
        if isinstance(node, ast.ClassDef):
            raise RuntimeError(
                f"the class {qualified} of an archive cannot be part of a "
                "program that is compiled from source"
            )
        if node is None:
            return None
        if qualified not in self._functions:
            self._functions[qualified] = self.define(node, qualified, None)
        return ("function", self._functions[qualified])

    def define(self, node: ast.FunctionDef, name: str, owner):
        """A function or, with an owner, a method."""
        if owner is not None:
            node.args.args[0].annotation = None
        text = ast.unparse(node)
        return _UNIT.define_function(text, f"<{name}>", 1, name, self.names, {}, owner)

    def type_of(self, annotation: str):
        """The type of an attribute."""
        return _UNIT.parse_type(annotation, "<archive>", self.names)

    def module(self, native, defined: list):
        """A module of a class of the unit with the attributes of another;
        `defined` receives the methods of new classes.
        """
        children = {
            name: self.module(child._c, defined)
            for name, child in native.named_children()
        }
        values = {**dict(native.attributes()), **children}
        known = self.classes.get(native.type_name)
        if known is None:
            known = self._class(native.type_name, children, defined)
        names = self._attributes[native.type_name]
        return known.make_module({name: values[name] for name in names})

    def _class(self, qualified: str, children: dict, defined: list):
        node = self.node(qualified)
        cls = _C._script_define_class(_UNIT, qualified, "module")
        self.classes[qualified] = cls
        facts = _facts(node)
        for name, annotation in facts.kinds.items():
            child = children.get(name)
            cls.add_attribute(
                name,
                self.type_of(annotation) if child is None else child.class_type,
                name in facts.parameters,
                name in facts.buffers,
            )
        for name, value in facts.constants.items():
            cls.add_constant(name, value)
        self._attributes[qualified] = list(facts.kinds)
        methods = [
            self.define(method, f"{qualified}.{method.name}", cls)
            for method in facts.methods
        ]
        for method in methods:
            cls.add_method(method.name, method)
        defined += methods
        return cls


class _Facts:
    def __init__(self) -> None:
        self.kinds: dict = {}
        self.constants: dict = {}
        self.methods: list = []
        self.parameters: list = []
        self.buffers: list = []


def _facts(node: ast.ClassDef) -> _Facts:
    """Attributes and methods that the text of a class declares."""
    found = _Facts()
    for part in node.body:
        if isinstance(part, ast.FunctionDef):
            found.methods.append(part)
        elif isinstance(part, ast.AnnAssign):
            kind = ast.unparse(part.annotation)
            if kind.startswith("Final[") and part.value is not None:
                found.constants[part.target.id] = _literal(part.value)
            else:
                found.kinds[part.target.id] = kind
        elif isinstance(part, ast.Assign):
            target = part.targets[0]
            if isinstance(target, ast.Subscript):
                name = ast.literal_eval(target.slice)
                found.kinds[name] = ast.unparse(part.value)
            elif target.id == "__parameters__":
                found.parameters = ast.literal_eval(part.value)
            elif target.id == "__buffers__":
                found.buffers = ast.literal_eval(part.value)
            elif "hooks" in target.id and ast.literal_eval(part.value):
                raise RuntimeError(
                    "a module of an archive that has hooks cannot be part of "
                    "one that is compiled from source"
                )
    return found


def imported(native):
    """The module of an archive as one of the unit that all scripts share.

    RuntimeError, NotImplementedError: its program has what cannot be part of
    another.
    """
    if not isinstance(native, _C.ScriptModule):
        raise RuntimeError(
            "a module loaded from an archive cannot be part of a module that "
            "is compiled from source where Python runs it: it has quantised "
            "tensors"
        )
    defined: list = []
    made = _Program(native).module(native, defined)
    for method in defined:
        method._compile()
    return made
