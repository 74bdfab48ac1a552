"""`CompilationUnit`: functions compiled from text."""

from __future__ import annotations

import sys

from ._resolve import Resolver
from ._scripter import _UNIT, SCRIPTER, ScriptFunction
from ._source import frame_names, left_aligned
from .frontend import NotSupportedError


class CompilationUnit:
    """Functions of TorchScript that were given as source.

    They are attributes of the unit and may call each other, in whatever order
    they stand. Other names mean what they mean where the unit is made.

    Args:
        lang: the source of any number of functions.
        _frames_up: how many callers further up that place is.

    Raises:
        RuntimeError: the source is not TorchScript; the text shows the part at
            fault.
    """

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        self._functions: dict[str, ScriptFunction] = {}
        if lang is not None:
            self.define(lang, _frames_up=_frames_up + 1)

    def define(self, lang: str, rcb=None, _frames_up: int = 0) -> None:
        """Compiles more functions.

        `rcb`, if given, says what a name means, or gives None.
        RuntimeError: a function of that name is there already.
        """
        names = frame_names(sys._getframe(1 + _frames_up), rcb)
        with _UNIT:
            defined = define_text(lang, "__torch__", _Names(names, self))
            for function in defined:
                if function.name in self._functions:
                    raise RuntimeError(
                        f"method '{function.name}' already defined."
                    )
                self._functions[function.name] = function
            try:
                for function in defined:
                    function._compile()
            except Exception:
                for function in defined:
                    del self._functions[function.name]
                raise

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


class _Names(dict):
    """What names mean around a unit's functions; its own come first."""

    def __init__(self, names: dict, unit: CompilationUnit) -> None:
        super().__init__()
        self._names = names
        self._unit = unit

    def __contains__(self, name) -> bool:
        return name in self._unit._functions or name in self._names

    def __getitem__(self, name):
        own = self._unit._functions.get(name)
        return self._names[name] if own is None else own


def define_text(text: str, prefix: str, names: dict, owner=None) -> list:
    """The functions of a source, parsed; methods if there is an owner."""
    if not isinstance(text, str):
        raise TypeError(
            f"define(): expected source as str, not {type(text).__name__}"
        )
    resolver = Resolver(names, SCRIPTER)
    try:
        return _UNIT.define_functions(
            left_aligned(text), "<string>", prefix, resolver, owner
        )
    except RuntimeError as error:  # names are looked up later
        raise NotSupportedError(str(error)) from None
