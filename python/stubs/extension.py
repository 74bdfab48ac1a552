"""The stub of the extension module: its classes, and functions of its own."""

from __future__ import annotations

import ast
import enum
import re
import types

from .definition import overloads
from .namespace import constant, defined_names
from .operators import Operators

HEADER = '''\
"""The extension: tensors, devices and dtypes, and what the package is made of."""

import builtins
import collections.abc
import datetime
import enum
from builtins import bool as _bool, complex as _complex, float as _float
from builtins import int as _int, type as _type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType, TracebackType
from typing import Any, Generic, Literal, NoReturn, SupportsIndex, TypeVar, overload

import numpy
from typing_extensions import Self

from hotaru import ops as ops, return_types
from hotaru._quantized.dtypes import qscheme
from hotaru.autograd.graph import GradientEdge, Node
from hotaru.storage import TypedStorage
from hotaru.utils.hooks import RemovableHandle
'''
_WORDS = {
    "object": "Any",
    "list": "list[Any]",
    "dict": "dict[Any, Any]",
    "tuple": "tuple[Any, ...]",
    "int": "_int",
    "float": "_float",
    "bool": "_bool",
}


def bound_functions(name: str, value, method: bool) -> list[str]:
    """Forms of a function that nanobind binds, from what it says itself."""
    lines = []
    for form in getattr(value, "__nb_signature__", ()):
        text = form[0].removeprefix("def ").strip()
        call, arrow, result = text.rpartition(") -> ")
        parameters = re.sub(r"\\\d+", "...", call.partition("(")[2])
        if "<" in text or "ndarray[" in text or not arrow:
            return [_any(name, method)]
        parameters = _readable(parameters)
        parameters = parameters.replace("*args", "*args: Any")
        parameters = parameters.replace("**kwargs", "**kwargs: Any")
        lines.append(f"def {name}({parameters}) -> {_readable(result)}: ...")
    return list(dict.fromkeys(lines)) or [_any(name, method)]


def _any(name: str, method: bool) -> str:
    """A definition that takes anything."""
    start = "self, " if method else ""
    result = "None" if name == "__init__" else "Any"
    return f"def {name}({start}*args: Any, **kwargs: Any) -> {result}: ..."


def _readable(text: str) -> str:
    """A text of nanobind's with this stub's names."""
    text = re.sub(r"\bhotaru\.(?:[a-z_C]+\.)*", "", text)
    text = re.sub(r"(?<![\w.])(list|dict|tuple)(?=\[)", r"builtins.\1", text)
    for word, instead in _WORDS.items():
        text = re.sub(rf"(?<![\w.]){word}(?![\w\[(:])", instead, text)
    return text


def _many(lines: list[str]) -> list[str]:
    return [f"@overload\n{x}" for x in lines] if len(lines) > 1 else lines


class Extension:
    """Writes the stub of the extension, by class and function."""

    def __init__(self, native: dict, operators: Operators) -> None:
        self._native = native
        self._operators = operators

    def text(self, written: str, tensor: str) -> str:
        """The stub.

        Args:
            written: definitions by hand, which replace those made here.
            tensor: members of Tensor by hand, in a class statement.
        """
        by_hand = {*defined_names(written), "Tensor", "ops"}
        names = {name for name in self._native if name[:2] != "__"}
        lines = [HEADER, written, self._tensor(tensor)]
        for name in sorted(names - by_hand):
            lines.append(self._line(name, self._native[name]))
        return "\n".join(lines) + "\n"

    def _line(self, name: str, value) -> str:
        if isinstance(value, enum.EnumMeta):
            members = "".join(f"\n    {n} = {v.value!r}" for n, v in _members(value))
            return f"class {name}(enum.Enum):{members or ' ...'}"
        if isinstance(value, type):
            return self._class(name, value)
        if isinstance(value, types.ModuleType):
            return f"{name}: Any"
        if callable(value):
            return "\n".join(_many(bound_functions(name, value, False)))
        return f"{name}: {constant(value)}"

    def _class(self, name: str, value: type) -> str:
        bases = [b.__name__ for b in value.__bases__ if b is not object]
        lines = []
        for member, found in sorted(vars(value).items()):
            lines += _member(member, found)
        head = f"class {name}" + (f"({', '.join(bases)})" if bases else "") + ":"
        if not lines:
            return f"{head} ..."
        body = "\n".join(lines).replace("\n", "\n    ")
        return f"{head}\n    {body}"

    def _tensor(self, written: str) -> str:
        """The class Tensor: members by hand, then operators and the rest."""
        tensor = self._native["Tensor"]
        known = _member_names(written)
        lines = []
        for name, value in sorted(vars(tensor).items()):
            if name in known or name.startswith("__"):
                continue
            operator = value.__name__ if type(value).__name__ == "Op" else name
            forms = self._operators.methods(operator, name)
            lines.append(overloads(forms) if forms else _any(name, True))
        body = "\n".join(lines).replace("\n", "\n    ")
        return f"{written.rstrip()}\n\n    # Operators.\n    {body}"


def _members(value: enum.EnumMeta) -> list:
    return sorted(value.__members__.items())


def _member_names(written: str) -> set[str]:
    body = ast.parse(written).body[0].body
    named = [n.target.id for n in body if isinstance(n, ast.AnnAssign)]
    return {*named, *(n.name for n in body if isinstance(n, ast.FunctionDef))}


def _member(name: str, value) -> list[str]:
    """Definitions of a member of a class that nanobind or C binds."""
    if name in _SILENT:
        return []
    kind = type(value).__name__
    if kind in ("property", "getset_descriptor", "member_descriptor"):
        return [f"{name}: Any"]
    if kind == "staticmethod":
        return [f"@staticmethod\n{_any(name, False)}"]
    if kind == "nb_method":
        return _many(bound_functions(name, value, True))
    if callable(value):
        return [_any(name, True)]
    return [] if name.startswith("__") else [f"{name}: {constant(value)}"]


_SILENT = frozenset(
    [
        "__module__",
        "__doc__",
        "__dict__",
        "__weakref__",
        "__new__",
        "__repr__",
        "__str__",
        "__eq__",
        "__ne__",
        "__hash__",
        "__reduce__",
        "__getattribute__",
        "__setattr__",
        "__delattr__",
        "__qualname__",
        "__vectorcalloffset__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__name__",
        "__slots__",
        "__class_getitem__",
        "__getstate__",
    ]
)
