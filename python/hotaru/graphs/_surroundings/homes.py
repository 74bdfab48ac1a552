"""Where classes, functions and modules come from."""

from __future__ import annotations

import functools
import pathlib
import sys
import types

from ..._own_names import is_own

# A flag of classes that are no native code's (Py_TPFLAGS_HEAPTYPE).
_MADE_BY_CODE = 1 << 9
_DATA = (["distributions"], ["utils", "data"], ["_torchvision"])
_INSTALLED = {"site-packages", "dist-packages"}


def top_of(code) -> str:
    """The package a class or function comes from, "" where it does not say."""
    return (getattr(code, "__module__", None) or "").partition(".")[0]


def is_ours(function) -> bool:
    """By where it is defined: `__module__` says who offers it."""
    home = function.__globals__.get("__name__") or ""
    return is_own(home)


def holds_data(kind: type) -> bool:
    """Tells whether objects of one of this package's classes are what programs
    read, not what works for them: distributions, data sets, transforms of
    images.
    """
    home = (getattr(kind, "__module__", None) or "").split(".")
    return home[1:2] in _DATA or home[1:3] in _DATA


def is_installed(function) -> bool:
    """True if a function is of a package that an installer put there."""
    return _is_installed((function.__globals__.get("__name__") or "").partition(".")[0])


@functools.cache
def _is_installed(top: str) -> bool:
    found = getattr(sys.modules.get(top), "__file__", None) or ""
    return not _INSTALLED.isdisjoint(pathlib.Path(found).parts)


def is_library(module: types.ModuleType) -> bool:
    """True if a module is this package's or the standard library's."""
    top = module.__name__.partition(".")[0]
    return is_own(top) or top in sys.stdlib_module_names


def is_of_library(kind: type) -> bool:
    """Tells whether a class is the standard library's: one that programs make
    with its help (`make_dataclass`) is not found there.
    """
    home = getattr(kind, "__module__", None) or ""
    if home.partition(".")[0] not in sys.stdlib_module_names:
        return False
    made = kind.__flags__ & _MADE_BY_CODE
    first = kind.__qualname__.partition(".")[0]
    return not made or hasattr(sys.modules.get(home), first)
