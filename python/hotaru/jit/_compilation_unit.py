"""`CompilationUnit`: functions compiled from text."""

from __future__ import annotations

import sys

from .. import _C
from .._late import lent
from ._resolve import Resolver
from ._scripter import SCRIPTER, Scripter, ScriptFunction
from ._source import frame_names, left_aligned
from .frontend import NotSupportedError


class CompilationUnit:
    """Functions of TorchScript that were given as source.

    They are attributes of the unit and may call each other, in whatever order
    they stand. Other names mean what they mean where the unit is made. The
    memory that they take is given back with the last of them, unless they use
    classes or functions that were compiled already.

    Args:
        lang: the source of any number of functions.
        _frames_up: how many callers further up that place is.

    Raises:
        RuntimeError: the source is not TorchScript; the text shows the part at
            fault.
    """

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        self._text = _Text()
        self._scripter: Scripter = _Alone()
        self._functions: dict[str, ScriptFunction] = {}
        if lang is not None:
            self.define(lang, _frames_up=_frames_up + 1)

    def define(self, lang: str, rcb=None, _frames_up: int = 0) -> None:
        """Compiles more functions.

        `rcb`, if given, says what a name means, or gives None.
        RuntimeError: a function of that name is there already.
        """
        self._add(lang, frame_names(sys._getframe(1 + _frames_up), rcb))

    def create_function(self, qualified_name: str, graph) -> ScriptFunction:
        """Adds a function that does what a graph says, and gives it.

        Later changes of the graph are none of the function's. RuntimeError: a
        function of that name is there already.
        """
        name = qualified_name.rpartition(".")[2]
        self._add(*lent("source_of_graph")(name, graph))
        return self._functions[name]

    def _add(self, lang: str, names) -> None:
        if isinstance(self._scripter, _Alone):
            try:
                return self._define(lang, names)
            except RuntimeError:
                if not self._scripter.needs_others:
                    raise
            self._functions = dict(self._text.functions())
            self._scripter = SCRIPTER
        self._define(lang, names)

    def _define(self, lang: str, names) -> None:
        used = _compile(lang, names, self._scripter, self._functions)
        self._text.parts.append((lang, used))
        for function in self._functions.values():
            function._text = self._text

    def find_function(self, name: str) -> ScriptFunction | None:
        """The function of that name, or None."""
        return self._functions.get(name)

    def get_functions(self) -> list[ScriptFunction]:
        """All functions, in the order they were defined."""
        return list(self._functions.values())

    def __getattr__(self, name: str) -> ScriptFunction:
        functions = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"'CompilationUnit' has no attribute '{name}'")


class _Text:
    """Text a unit was compiled from, for scripts that call its functions."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, dict]] = []
        self._functions: dict[str, ScriptFunction] | None = None

    def functions(self) -> dict[str, ScriptFunction]:
        """The functions in the unit that all scripts share."""
        with SCRIPTER.unit:
            if self._functions is None:
                functions: dict[str, ScriptFunction] = {}
                for lang, names in self.parts:
                    _compile(lang, names, SCRIPTER, functions)
                self._functions = functions
            return self._functions

    def function(self, name: str) -> ScriptFunction:
        """One of them."""
        return self.functions()[name]


class _Alone(Scripter):
    """Compiles for a unit that needs no class and no function of others."""

    def __init__(self) -> None:
        super().__init__(_C.ScriptUnit(settles=True))
        self.needs_others = False

    def compiled(self, function):
        return function if function._is_from(self.unit) else self._refuse()

    def enum_value(self, value):
        return self._refuse()

    def class_type(self, cls, near=None):
        return self._refuse()

    def _refuse(self):
        self.needs_others = True
        raise RuntimeError("this needs what other scripts have compiled")


class _Names(dict):
    """Names that mean something around a unit's functions; its own come first.

    `used` has those of the others that were asked for.
    """

    def __init__(self, names: dict, functions: dict) -> None:
        super().__init__()
        self._names = names
        self._functions = functions
        self.used: dict = {}

    def __contains__(self, name) -> bool:
        return name in self._functions or name in self._names

    def __getitem__(self, name):
        own = self._functions.get(name)
        if own is None:
            own = self.used[name] = self._names[name]
        return own


def _compile(lang: str, names, scripter: Scripter, functions: dict) -> dict:
    """Adds a text's functions to `functions`; gives the names that they use.

    All of them or, with an error, none.
    """
    all_of_them = dict(functions)
    known = _Names(names, all_of_them)
    with scripter.unit:
        defined = define_text(lang, "__torch__", known, scripter=scripter)
        for function in defined:
            check_new(function.name, function.name in all_of_them)
            all_of_them[function.name] = function
        for function in defined:
            function._compile()
        scripter.unit.settle()
    functions.update(all_of_them)
    return known.used


def check_new(name: str, known: bool) -> None:
    if known:
        raise RuntimeError(f"method '{name}' already defined.")


def define_text(
    text: str, prefix: str, names: dict, owner=None, scripter=SCRIPTER
) -> list:
    """The functions of a source, parsed; methods if there is an owner."""
    if not isinstance(text, str):
        raise TypeError(f"define(): expected source as str, not {type(text).__name__}")
    resolver = Resolver(names, scripter)
    source = left_aligned(text)
    place = (source.line, source.indent)
    try:
        return scripter.unit.define_functions(
            source.text, source.file, prefix, resolver, owner, *place
        )
    except RuntimeError as error:  # names are looked up later
        raise NotSupportedError(str(error)) from None
