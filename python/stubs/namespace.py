"""The stub of a module whose names are made while it runs."""

from __future__ import annotations

import ast
import copy
import inspect
import pathlib
import re
import sys
import types

from .definition import overloads
from .operators import Operators
from .sources import Source, read

# Modules whose functions are written out, wherever they are defined: arguments
# whose annotation is missing in the source get the one that their name tells.
INLINED = frozenset(["hotaru.cuda", "hotaru.nn.functional"])
_BY_NAME = {
    "device": "DeviceLikeType | None",
    "dtype": "_dtype | None",
    "generator": "Generator | None",
    "normalized_shape": "Sequence[_int]",
}
# Names that stubs use, and where they are from.
_USED = {
    "contextlib": "import contextlib",
    "_bool": "from builtins import bool as _bool",
    "_complex": "from builtins import complex as _complex",
    "_float": "from builtins import float as _float",
    "_int": "from builtins import int as _int",
    "Sequence": "from collections.abc import Sequence",
    "Any": "from typing import Any",
    "Literal": "from typing import Literal",
    "final": "from typing import final",
    "overload": "from typing import overload",
    "return_types": "from hotaru import return_types",
    "DeviceLikeType": "from hotaru._C import DeviceLikeType",
    "Generator": "from hotaru._C import Generator",
    "Number": "from hotaru._C import Number",
    "Tensor": "from hotaru._C import Tensor",
    "_device": "from hotaru._C import device as _device",
    "_dtype": "from hotaru._C import dtype as _dtype",
    "_layout": "from hotaru._C import layout as _layout",
    "memory_format": "from hotaru._C import memory_format",
    "TypedStorage": "from hotaru.storage import TypedStorage",
}

_CONSTANTS = {
    bool: "_bool",
    int: "_int",
    float: "_float",
    str: "str",
    list: "list[Any]",
    dict: "dict[Any, Any]",
    tuple: "tuple[Any, ...]",
    type(None): "None",
}


class Homes:
    """Finds the file that defines an object, where a type checker finds it."""

    def __init__(self, native: dict) -> None:
        self._sources: dict[str, Source | None] = {}
        self._defined: dict[int, tuple[str, str]] = {}
        for name in sorted(sys.modules):
            if name.startswith("hotaru"):
                self._add(name)
        for name, value in sorted(native.items()):
            if callable(value) and type(value).__name__ != "Op":
                self._defined.setdefault(id(value), ("hotaru._C", name))

    def source(self, name: str) -> Source | None:
        """The source of a module, read once."""
        if name not in self._sources:
            self._sources[name] = read(name)
        return self._sources[name]

    def _add(self, name: str) -> None:
        source = self.source(name)
        for bound, node in source.defined.items() if source else ():
            if type(node).__name__ not in ("FunctionDef", "ClassDef"):
                continue
            value = vars(sys.modules[name]).get(bound)
            if value is not None:
                self._defined.setdefault(id(unwrapped(value)), (name, bound))

    def find(self, value) -> tuple[str, str] | None:
        """(module, name) of the definition of a function or class."""
        return self._defined.get(id(unwrapped(value)))


def unwrapped(value):
    """The Python function that the extension wraps for the protocol."""
    return inspect.unwrap(value) if hasattr(value, "__wrapped__") else value


class Namespace:
    """Writes stubs of modules: where each name's definition is, or itself."""

    def __init__(self, homes: Homes, operators: Operators) -> None:
        self._homes = homes
        self._operators = operators

    def text(self, name: str, written: str = "", more: dict | None = None) -> str:
        """The stub of the module `name`.

        Args:
            name: of the module, which is loaded.
            written: definitions by hand, which replace those made here.
            more: names that the module gives beside those that it lists.
        """
        module = sys.modules[name]
        source = self._homes.source(name) or Source(name, pathlib.Path())
        found = {n: getattr(module, n) for n in sorted(self._names(module, source))}
        found.update(more or {})
        real = self._real(name, module)
        by_hand = defined_names(written)
        parts = []
        for bound, value in found.items():
            if real and bound in real.bound():
                parts.append(f"from {real.name} import {bound} as {bound}")
            elif bound not in by_hand:
                parts.append(self._line(source, bound, value))
        lines = "\n".join(filter(None, parts)).split("\n")
        is_import = re.compile("from .* import |import ").match
        imports = list(dict.fromkeys(filter(is_import, lines)))
        rest = [line for line in lines if not is_import(line)]
        head = f'"""{(module.__doc__ or name).strip().splitlines()[0]}"""\n'
        body = "\n".join(["\n".join(imports), self._exported(module), written, *rest])
        return f"{head}\n{used(body)}\n{body}\n"

    def _real(self, name: str, module) -> Source | None:
        """The source of a module that has another name besides its own."""
        same = sys.modules.get(module.__name__) is module
        if module.__name__ == name or not same:
            return None
        return self._homes.source(module.__name__)

    def _exported(self, module) -> str:
        """The list of names that a star gives, where the module has one."""
        if "__all__" not in vars(module):
            return ""
        return (
            "__all__ = [\n"
            + "".join(f'    "{n}",\n' for n in sorted(module.__all__))
            + "]"
        )

    def _names(self, module, source: Source) -> set[str]:
        names = {*dir(module), *getattr(module, "__all__", ()), *source.bound()}
        if not source.defined and not source.imported:  # of a module without a file
            names |= {*dir(type(module))} - {*dir(types.ModuleType)}
            names = {n for n in names if n[0] != "_"}
        names -= {"annotations", "TYPE_CHECKING"}
        names = {n for n in names if not n.startswith("__") or n == "__version__"}
        return {n for n in names if hasattr(module, n)}

    def _line(self, source: Source, name: str, value) -> str:
        """The statement that binds a name in the stub; empty for one's own need."""
        module = sys.modules[source.name]
        if isinstance(value, types.ModuleType):
            return self._module(source.name, name, value)
        if type(value).__name__ == "Op":
            doc = source.comments.get(name, "")
            return overloads(self._operators.functions(value.__name__, name), doc)
        home = self._homes.find(value)
        if home and home[0] != source.name:
            other = self._homes.source(home[0])
            if source.name in INLINED and isinstance(
                other and other.defined.get(home[1]), ast.FunctionDef
            ):
                return own(other, home[1], name)
            if home[1] != name:  # a stub exports what keeps its name
                return f"from {home[0]} import {home[1]} as _{name}_\n{name} = _{name}_"
            return f"from {home[0]} import {home[1]} as {name}"
        if home:
            return own(source, home[1], name)
        place, given = source.imported.get(name, ("", None))
        if given and place.partition(".")[0] == source.name.partition(".")[0]:
            return f"from {place} import {given} as {name}"
        if name == "__version__":
            return "__version__: str"
        if name.startswith("_") and name not in getattr(module, "__all__", ()):
            return ""
        if given and name in getattr(module, "__all__", ()):
            return f"from {place} import {given} as {name}"
        return "" if given else _value(name, value)

    def _module(self, within: str, name: str, value: types.ModuleType) -> str:
        parent, _, last = value.__name__.rpartition(".")
        if value.__name__.partition(".")[0] != within.partition(".")[0]:
            return ""
        if sys.modules.get(value.__name__) is not value:
            return f"{name}: Any"
        return f"from {parent} import {last} as {name}" if parent else ""


def used(body: str) -> str:
    """The imports of the names that a stub's text uses and does not bind."""
    words = set(re.findall(r"\b[A-Za-z_]+\b", body)) - defined_names(body)
    return "\n".join(line for name, line in _USED.items() if name in words)


def own(source: Source, name: str, bound: str) -> str:
    """A function as its source has it, without a body, behind the imports of what
    its annotations name.
    """
    node = source.defined[name]
    if not isinstance(node, ast.FunctionDef):
        raise TypeError(f"{source.name}.{name}: a class in a module with a stub")
    node = copy.deepcopy(node)
    for parameter in ast.walk(node.args):
        if isinstance(parameter, ast.arg):
            _annotate(parameter)
    lines = set()
    for part in ast.walk(ast.Tuple([*_annotations(node)])):
        if isinstance(part, ast.Name) and part.id not in _USED:
            lines.add(_import(source, part.id))
    doc = (ast.get_docstring(node) or "").partition("\n")[0]
    body = [ast.Expr(ast.Constant(doc or ...))]
    short = ast.FunctionDef(bound, _open(node.args), body, [], node.returns)
    if any(ast.unparse(d).endswith("contextmanager") for d in node.decorator_list):
        decorator = ast.parse("contextlib.contextmanager", mode="eval").body
        short.decorator_list = [decorator]
    text = ast.unparse(ast.fix_missing_locations(short))
    text = re.sub(r"BroadcastingList\d\[([^]]+)\]", r"\1 | Sequence[\1]", text)
    return "\n".join([*sorted(lines - {""}), text])


def _import(source: Source, name: str) -> str:
    """The import of a name that an annotation in the source has."""
    place, given = source.imported.get(name, ("", None))
    if name in source.defined:
        return f"from {source.name} import {name} as {name}"
    if given:
        return f"from {place} import {given} as {name}"
    return f"import {place}" if place else ""


def _annotate(parameter: ast.arg) -> None:
    """Sets the type that a parameter's name tells, unless its source has one that
    is not TorchScript's.
    """
    told = _BY_NAME.get(parameter.arg)
    note = parameter.annotation and ast.unparse(parameter.annotation)
    if told and note in (None, "int | None", "list[int]"):
        parameter.annotation = ast.parse(told, mode="eval").body


def _open(arguments: ast.arguments) -> ast.arguments:
    """The parameters with `...` for defaults that are no literals."""
    for defaults in (arguments.defaults, arguments.kw_defaults):
        for i, default in enumerate(defaults):
            if default is not None and not isinstance(default, ast.Constant):
                defaults[i] = ast.Constant(...)
    return arguments


def _annotations(node: ast.FunctionDef) -> list[ast.expr]:
    parameters = ast.walk(node.args)
    notes = [p.annotation for p in parameters if isinstance(p, ast.arg)]
    return [note for note in (*notes, node.returns) if note is not None]


def _value(name: str, value) -> str:
    """The statement of a constant, or of a class that a call made."""
    if isinstance(value, types.MethodType):
        return f"def {name}{_signature(value)} -> Any: ..."
    if not isinstance(value, type):
        return f"{name}: {constant(value)}"
    if type(getattr(value, "dtype", None)).__name__ == "dtype":  # FloatTensor
        return f"@final\nclass {name}(Tensor): ..."
    if name.endswith("Storage"):
        return f"class {name}(TypedStorage): ..."
    return f"{name}: type[Any]"


def _signature(method) -> str:
    """The parameters of a method, whose types nothing tells."""
    found = inspect.signature(method)
    kept = []
    for parameter in found.parameters.values():
        default = parameter.default
        if default is not parameter.empty and not isinstance(default, (int, str)):
            default = None if default is None else ...
        kept.append(parameter.replace(annotation=parameter.empty, default=default))
    text = str(found.replace(parameters=kept, return_annotation=found.empty))
    return text.replace("Ellipsis", "...")


def constant(value) -> str:
    """The annotation of a value that no definition tells of."""
    kind = type(value)
    if kind in _CONSTANTS:
        return _CONSTANTS[kind]
    by_name = {"dtype": "_dtype", "layout": "_layout", "Generator": "Generator"}
    by_name |= {"memory_format": "memory_format", "_SparseLayout": "_layout"}
    by_name |= {"_Jagged": "_layout", "QuantizedDtype": "_dtype"}
    return by_name.get(kind.__name__, "Any")


def defined_names(text: str) -> set[str]:
    """The names that a text of definitions gives."""
    out = set()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            out.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            out.add(node.target.id)
        elif isinstance(node, ast.Assign):
            out.add(node.targets[0].id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            out.update(alias.asname or alias.name for alias in node.names)
    return out
