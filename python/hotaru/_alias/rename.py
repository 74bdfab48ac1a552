"""Modules that are loaded already get their other name."""

from __future__ import annotations

import sys
import types


def rename_loaded(alias: str, package: str) -> None:
    """Modules of the package, and what they define, are called `alias.*`."""
    inner = f"{package}."
    for name, module in list(sys.modules.items()):
        if name != package and not name.startswith(inner):
            continue
        if not isinstance(module, types.ModuleType):
            continue
        named = alias + name[len(package) :]
        sys.modules[named] = module
        module.__name__ = named
        for value in list(vars(module).values()):
            if isinstance(value, (type, types.FunctionType)):
                _rename(value, alias, package)


def _rename(value, alias: str, package: str) -> None:
    name = getattr(value, "__module__", None)
    if not isinstance(name, str) or name.partition(".")[0] != package:
        return
    try:
        value.__module__ = alias + name[len(package) :]
    except (AttributeError, TypeError):  # a type that cannot be changed
        return
    if isinstance(value, type):
        for member in list(vars(value).values()):
            if isinstance(member, type):
                _rename(member, alias, package)
