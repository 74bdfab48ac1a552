"""Import hooks: a package by another name, with that package's metadata."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types


class AliasFinder:
    """Finds `alias` and `alias.*` as the modules of another package.

    Belongs in front of `sys.meta_path`, where it hides an installed package
    called `alias`. Modules of `package` that are loaded from then on are
    called `alias.*` themselves, and so are their classes.
    """

    def __init__(self, alias: str, package: str) -> None:
        self.alias = alias
        self._package = package

    def find_spec(self, fullname: str, path=None, target=None):
        """The spec of an alias or of a part of the package; None for others.

        Raises:
            ModuleNotFoundError: the package has no such part.
        """
        if fullname.startswith(f"{self._package}."):
            return self._renamed(fullname, path, target)
        if fullname != self.alias and not fullname.startswith(f"{self.alias}."):
            return None
        return _spec_of(fullname, self._package + fullname[len(self.alias) :])

    def _renamed(self, fullname: str, path, target):
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and hasattr(spec.loader, "get_code"):
            extension = importlib.machinery.ExtensionFileLoader
            if not isinstance(spec.loader, extension):
                name = self.alias + fullname[len(self._package) :]
                spec.loader = _RenamingLoader(spec.loader, name)
        return spec

    def find_distributions(self, context=None):
        """Yields the alias's distribution to `importlib.metadata`."""
        name = getattr(context, "name", None)
        if name is None or name.lower().replace("_", "-") == self.alias:
            from .metadata import distribution

            yield distribution(self.alias)


class ModuleFinder:
    """Finds a module of another package, and the parts of it, by a name of its
    own, which hides an installed package of that name.
    """

    def __init__(self, name: str, module: str) -> None:
        self._name = name
        self._module = module

    def find_spec(self, fullname: str, path=None, target=None):
        """The spec of that module or of a part of it; None for others.

        Raises:
            ModuleNotFoundError: the module has no such part.
        """
        if fullname != self._name and not fullname.startswith(f"{self._name}."):
            return None
        return _spec_of(fullname, self._module + fullname[len(self._name) :])


def _spec_of(fullname: str, real: str) -> importlib.machinery.ModuleSpec:
    """The spec by which a module of the package is found by another name."""
    try:
        module = importlib.import_module(real)
    except ModuleNotFoundError as error:
        if error.name not in (real, fullname):
            raise
        raise ModuleNotFoundError(
            f"No module named '{fullname}' (hotaru has no {real})", name=fullname
        ) from None
    # The import system would load what it finds there once more.
    sys.modules.pop(fullname, None)
    return importlib.machinery.ModuleSpec(
        fullname,
        _AliasLoader(module),
        origin=getattr(module, "__file__", None),
        is_package=hasattr(module, "__path__"),
    )


class _AliasLoader:
    """Gives out a module that is loaded already."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec) -> types.ModuleType:
        return self._module

    def exec_module(self, module: types.ModuleType) -> None:
        # The import system has written the alias's spec into the module.
        module.__spec__ = self._spec

    def get_code(self, fullname: str) -> types.CodeType | None:
        """For `python -m`."""
        return self._spec.loader.get_code(self._spec.name)

    def get_source(self, fullname: str) -> str | None:
        return self._spec.loader.get_source(self._spec.name)


class _RenamingLoader:
    """Loads a module that sees another `__name__`, and is found by both."""

    def __init__(self, loader, name: str) -> None:
        self._loader = loader
        self._name = name

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        spec = module.__spec__
        # Whoever looks at the module from now on finds its own loader.
        spec.loader = module.__loader__ = self._loader
        code = self._loader.get_code(spec.name)
        module.__name__ = self._name
        # Dataclasses and pickles look a class's module up by its name.
        before = sys.modules.get(self._name)
        sys.modules[self._name] = module
        try:
            exec(code, module.__dict__)
        except BaseException:
            if before is None:
                sys.modules.pop(self._name, None)
            raise
        # A module may have put something else in its place.
        sys.modules[self._name] = sys.modules.get(spec.name, module)
