"""Modules that a package takes from where it is loaded."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

_HERE = __package__.partition(".")[0]
_LAYERS = "torch.nn.modules"
# Needed by what a package contains without saying so.
IMPLICIT = {"numpy", "numpy.core", "numpy.core._multiarray_umath", "builtins"}
# Names that numpy had when older packages were written.
_FORMER = {"numpy": {"str": str, "bool": bool}}


def import_outside(name: str) -> ModuleType:
    """The module of a name; `torch` and what is below it are this library.

    ModuleNotFoundError: there is none.
    """
    if name.partition(".")[0] != "torch":
        module = importlib.import_module(name)
        for old, value in _FORMER.get(name, {}).items():
            module.__dict__.setdefault(old, value)
        return module
    try:
        return importlib.import_module(_HERE + name.removeprefix("torch"))
    except ModuleNotFoundError as error:
        if name in sys.modules:
            return sys.modules[name]
        # All layers are offered there, whichever file they are in.
        if name.startswith(f"{_LAYERS}."):
            return import_outside(_LAYERS)
        raise ModuleNotFoundError(
            f"No module named '{name}' ({_HERE} has none of that name)", name=name
        ) from error
