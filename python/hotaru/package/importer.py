"""Where modules are found by name, and names by objects."""

from __future__ import annotations

import logging
import pickle
from abc import ABC, abstractmethod
from types import ModuleType

from .._own_names import is_own
from ..serialization._names import written
from ._mangling import demangle, get_mangle_prefix, is_mangled
from ._outside import import_outside

__all__ = ["Importer", "ObjMismatchError", "ObjNotFoundError", "OrderedImporter"]

_log = logging.getLogger(__name__)
_MAIN = ("__main__", "__mp_main__")


class ObjNotFoundError(Exception):
    """No object of that name is found."""


class ObjMismatchError(Exception):
    """Another object is found by the name."""


class Importer(ABC):
    """A space of modules: the environment's, a package's, or several in turn.

    What `get_name` says of an object gives the object again, by
    `import_module` and the attribute.
    """

    modules: dict[str, ModuleType]

    @abstractmethod
    def import_module(self, module_name: str) -> ModuleType:
        """The module, as `importlib.import_module` gives it."""

    def get_name(self, obj, name: str | None = None) -> tuple[str, str]:
        """The module of an object and its name there.

        Args:
            name: that of the object, where it does not say its own.

        Raises:
            ObjNotFoundError: nothing is found by it.
            ObjMismatchError: something else is.
        """
        name = name or _name_of(obj)
        module_name = demangle(self.whichmodule(obj, name))
        if is_own(module_name):
            module_name, name = written(obj, name)
        try:
            found = attribute(self.import_module(module_name), name)
        except (ImportError, KeyError, AttributeError):
            raise ObjNotFoundError(
                f"{obj} was not found as {module_name}.{name}"
            ) from None
        if found is not obj:
            raise ObjMismatchError(self._mismatch(obj, found, name))
        return module_name, name

    def _mismatch(self, obj, found, name: str) -> str:
        wanted, there = self._origin(obj, name), self._origin(found, name)
        return (
            f"\n\nThe object provided is from '{wanted[0]}', which is coming "
            f"from {wanted[1]}.\nHowever, when we import '{there[0]}', it's "
            f"coming from {there[1]}.\nTo fix this, make sure this "
            f"'PackageExporter's importer lists {wanted[2]} before {there[2]}."
        )

    def _origin(self, obj, name: str) -> tuple[str, str, str]:
        """Module, place and importer of an object, in words."""
        module = self.whichmodule(obj, name)
        if not is_mangled(module):
            return module, "the current Python environment", "'sys_importer'"
        prefix = get_mangle_prefix(module)
        return module, prefix, f"the importer for {prefix}"

    def whichmodule(self, obj, name: str) -> str:
        """The name of the module of an object; "__main__" if none is known."""
        module_name = getattr(obj, "__module__", None)
        if module_name is not None:
            return module_name
        for module_name, module in list(self.modules.items()):
            if module_name in _MAIN or module is None:
                continue
            try:
                if attribute(module, name) is obj:
                    return module_name
            except AttributeError:
                continue
        return "__main__"


def attribute(module, path: str):
    """Returns what a name with dots stands for in a module. AttributeError:
    nothing, or something that was made in a function.
    """
    value = module
    for part in path.split("."):
        if part == "<locals>":
            raise AttributeError(f"local object {path!r} of {module!r}")
        value = getattr(value, part)
    return value


def _name_of(obj) -> str:
    """The name by which an object pickles, or its own."""
    if obj is not None and type(obj) not in pickle._Pickler.dispatch:
        reduce = getattr(obj, "__reduce__", None)
        try:
            reduced = reduce()
        except Exception:  # an object that is no singleton, or a class
            reduced = None
        if isinstance(reduced, str):
            return reduced
    return getattr(obj, "__qualname__", None) or obj.__name__


class _SysImporter(Importer):
    """Python's own environment, in which `torch` is this library."""

    def import_module(self, module_name: str) -> ModuleType:
        return import_outside(module_name)

    def whichmodule(self, obj, name: str) -> str:
        module_name = getattr(obj, "__module__", None)
        if module_name is not None:
            return module_name
        return pickle.whichmodule(obj, name)


sys_importer = _SysImporter()


class OrderedImporter(Importer):
    """Several importers, of which the first that finds something counts."""

    def __init__(self, *args: Importer) -> None:
        self._importers = list(args)

    def get_name(self, obj, name: str | None = None) -> tuple[str, str]:
        for importer in self._importers:
            try:
                return importer.get_name(obj, name)
            except (ObjNotFoundError, ObjMismatchError) as error:
                _log.info(
                    "Tried to call get_name with obj %s, and name %s on %s and got %s",
                    *(obj, name, importer, error),
                )
        raise ObjNotFoundError(
            f"Could not find obj {obj} and name {name} in any of the importers "
            f"{self._importers}"
        )

    def import_module(self, module_name: str) -> ModuleType:
        """The first importer's that has it.

        TypeError: one is no Importer. ModuleNotFoundError: none has it.
        """
        failed = ModuleNotFoundError(module_name)
        for importer in self._importers:
            if not isinstance(importer, Importer):
                raise TypeError(
                    f"{importer} is not a Importer. All importers in "
                    "OrderedImporter must inherit from Importer."
                )
            try:
                module = importer.import_module(module_name)
            except ModuleNotFoundError as error:
                failed = error
                continue
            if not self._is_torchpackage_dummy(module):
                return module
        raise failed

    def _is_torchpackage_dummy(self, module) -> bool:
        """True if it is a folder of a package that has no source itself."""
        return (
            getattr(module, "__torch_package__", False)
            and hasattr(module, "__path__")
            and getattr(module, "__file__", None) is None
        )

    def whichmodule(self, obj, name: str) -> str:
        for importer in self._importers:
            module_name = importer.whichmodule(obj, name)
            if module_name != "__main__":
                return module_name
        return "__main__"
