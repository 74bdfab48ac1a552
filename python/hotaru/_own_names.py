"""Names of the modules of this package, and of what is found late.

A program that imports the package by another name (`_alias.interpreter`) sees
modules, classes and functions by that name: `torch.nn.modules.linear`. What
asks whether something is of this package asks here.
"""

from __future__ import annotations

import sys

_HOME = __package__
# By what a program may know the package; the last one is told to others.
_roots = [_HOME]


def is_own(name: str | None, below: str = "") -> bool:
    """True if a module's name is one of this package.

    Args:
        name: as `__name__` and `__module__` give it; None is nobody's.
        below: "nn" for those of `nn` and its parts alone.
    """
    root, _, rest = (name or "").partition(".")
    if root not in _roots:
        return False
    return not below or rest == below or rest.startswith(below + ".")


def own_root() -> str:
    """The name that programs see now."""
    return _roots[-1]


def add_root(root: str) -> None:
    """From now on the package is called `root`, too, and says so."""
    if root in _roots:
        _roots.remove(root)
    _roots.append(root)


def share_parts(package: str, source, names: tuple[str, ...]) -> None:
    """Gives a package modules of another one, by its own name, too.

    Args:
        package: its `__package__`.
        source: the other one.
        names: of the modules.
    """
    from importlib import import_module

    for name in names:
        module = import_module(f"{source.__name__}.{name}")
        for root in _roots:
            sys.modules[f"{root}{package[len(_HOME) :]}.{name}"] = module
        vars(sys.modules[package]).setdefault(name, module)


def add_parts(package: str, parts: dict[str, dict]) -> None:
    """Gives a package modules by PyTorch's names for what it has elsewhere.

    Args:
        package: its `__package__`.
        parts: by the module's name below the package, what is found there.
            Modules that exist get what they lack. Classes say of themselves
            that they are from there, as pickles of PyTorch do.
    """
    import importlib.machinery
    import types

    shown = own_root() + package[len(_HOME) :]
    for name, found in parts.items():
        module = sys.modules.get(f"{package}.{name}")
        if module is not None:
            module.__dict__.update(found)
            _place(found, module.__name__)
            continue
        module = types.ModuleType(f"{shown}.{name}")
        module.__spec__ = importlib.machinery.ModuleSpec(f"{package}.{name}", None)
        module.__package__ = package
        module.__all__ = list(found)
        for root in _roots:
            sys.modules[f"{root}{package[len(_HOME) :]}.{name}"] = module
        setattr(sys.modules[package], name, module)
        for key, value in found.items():
            setattr(module, key, value)
            if isinstance(value, type) and is_own(value.__module__):
                # Tools find the source of a class by its module.
                source = sys.modules[value.__module__].__file__
                module.__dict__.setdefault("__file__", source)
        _place(found, module.__name__)


def _place(found: dict, module: str) -> None:
    """Lets this package's classes say that they are from a module."""
    for value in found.values():
        if isinstance(value, type) and is_own(value.__module__):
            value.__module__ = module


def no_attribute(module: str, name: str, why: str = "") -> AttributeError:
    """Error that a module's `__getattr__` raises for a name that it lacks."""
    return AttributeError(f"module {module!r} has no attribute {name!r}{why}")


def part(package: str, name: str, parts):
    """The package's module of that name, imported now.

    AttributeError: it is none of `parts`.
    """
    if name not in parts:
        raise no_attribute(package, name)
    from importlib import import_module

    return import_module(f"{package}.{name}")


def no_member(kind: type, name: str, why: str = "") -> AttributeError:
    """Error that `__getattr__` of a class raises for a name that it lacks."""
    kind = kind.__name__
    return AttributeError(f"{kind!r} object has no attribute {name!r}{why}")


def not_iterable(value) -> TypeError:
    """Error that `__iter__` raises where Python's own types have none."""
    return TypeError(f"{type(value).__name__!r} object is not iterable")
