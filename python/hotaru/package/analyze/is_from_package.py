"""Test whether something was loaded from a package."""

from __future__ import annotations

from types import ModuleType

from .._mangling import is_mangled


def is_from_package(obj) -> bool:
    """Tells whether a module, or the class of an object, is a package's own.

    False for what a package takes from outside.
    """
    if type(obj) is ModuleType:
        return is_mangled(obj.__name__)
    return is_mangled(type(obj).__module__)
