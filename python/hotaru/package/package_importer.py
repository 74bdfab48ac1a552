"""Loading packages."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import inspect
import linecache
import os
import types
from collections.abc import Callable

from ..jit._packaged import modules as _package_imported_modules
from ..serialization._file_classes import PyTorchFileReader
from ._directory_reader import DirectoryReader
from ._importlib import _normalize_path, _package_of, _resolve_name, _sanity_check
from ._mangling import PackageMangler, demangle
from ._outside import IMPLICIT, import_outside
from ._package_unpickler import PackageUnpickler
from ._pickle_loading import Loading
from ._resources import _PackageResourceReader
from ._tree import Tree
from .file_structure_representation import Directory, _create_directory_from_file_list
from .glob_group import GlobPattern
from .importer import Importer

__all__ = ["PackageImporter"]

_MISSING = object()


class PackageImporter(Importer):
    """Runs the modules of a package, apart from all others, and its pickles.

    What is imported inside is the package's or one of the modules that it
    says to be external. Loading runs what the file says: only for files that
    one trusts. Not for several threads at once.

    Args:
        file_or_buffer: a path of a package, or of a folder in which one was
            unpacked; a file opened for reading bytes; or a PyTorchFileReader.
        module_allowed: asked for each external module.

    Attributes:
        modules: those that are loaded, by the names that they have inside.
        extern_modules: the names of external modules.

    Raises:
        ImportError: an external module that is not allowed.
        RuntimeError: what is no package.
    """

    modules: dict[str, types.ModuleType]

    def __init__(
        self,
        file_or_buffer,
        module_allowed: Callable[[str], bool] = lambda module_name: True,
    ) -> None:
        self.filename, self.zip_reader = _opened(file_or_buffer)
        self.modules = {}
        self.extern_modules = self._read_extern()
        self._tree = Tree()
        for name in self.extern_modules:
            if not module_allowed(name):
                raise ImportError(
                    f"package '{file_or_buffer}' needs the external module "
                    f"'{name}' but that module has been disallowed"
                )
            self._tree.add_external(name)
        for path in self.zip_reader.get_all_records():
            self._tree.add_file(path)
        self._mangler = PackageMangler()
        self.patched_builtins = {**vars(builtins), "__import__": self.__import__}
        # So that code of the package can ask for its records.
        self.modules["torch_package_importer"] = self
        self.storage_context: Loading | None = None

    # -- what a program asks for -----------------------------------------------

    def import_module(self, name: str, package=None) -> types.ModuleType:
        """A module, which runs unless it is loaded already.

        Args:
            name: as it is inside, or as the modules say it of themselves.
            package: ignored.

        Raises:
            ModuleNotFoundError: neither in the package nor external.
        """
        return self._gcd_import(self._mangler.demangle(name))

    def load_binary(self, package: str, resource: str) -> bytes:
        """The bytes of a record of a package."""
        return self.zip_reader.get_record(self._zipfile_path(package, resource))

    def load_text(
        self,
        package: str,
        resource: str,
        encoding: str = "utf-8",
        errors: str = "strict",
    ) -> str:
        """A record of a package, decoded."""
        return self.load_binary(package, resource).decode(encoding, errors)

    def load_pickle(self, package: str, resource: str, map_location=None):
        """The object that was pickled to a record of a package.

        Args:
            map_location: as `torch.load` takes it.

        Raises:
            ModuleNotFoundError, AttributeError: of classes that are not there.
        """
        record = self._zipfile_path(package, resource)
        return Loading(self, map_location).load(record)

    def id(self) -> str:
        """Returns the beginning of the names of this package's modules."""
        return self._mangler.parent_name()

    def file_structure(
        self, *, include: GlobPattern = "**", exclude: GlobPattern = ()
    ) -> Directory:
        """The files of the package that fit patterns, as `GlobGroup` has them.

        The parts of names are parted by "/".
        """
        return _create_directory_from_file_list(
            self.filename, self.zip_reader.get_all_records(), include, exclude
        )

    def python_version(self) -> str | None:
        """The version of Python that wrote the package, if it says so."""
        name = ".data/python_version"
        if not self.zip_reader.has_record(name):
            return None
        return self.zip_reader.get_record(name).decode("utf-8").strip()

    def Unpickler(self, *args, **kwargs) -> PackageUnpickler:  # noqa: N802
        """An unpickler that finds classes in the package."""
        return PackageUnpickler(self, *args, **kwargs)

    # -- what importlib and linecache ask for ----------------------------------

    def get_source(self, module_name: str) -> str:
        """The source text of a module."""
        module = self.import_module(demangle(module_name))
        return self.zip_reader.get_record(demangle(module.__file__)).decode()

    def get_resource_reader(self, fullname: str) -> _PackageResourceReader | None:
        """Reads the records of a package; None for one from outside."""
        try:
            package = self._get_package(fullname)
        except ImportError:
            return None
        if package.__loader__ is not self:
            return None
        return _PackageResourceReader(self, demangle(package.__name__))

    # -- running modules -------------------------------------------------------

    def _read_extern(self) -> list[str]:
        text = self.zip_reader.get_record(".data/extern_modules")
        return text.decode("utf-8").splitlines()

    def _load_module(self, name: str, parent: str) -> types.ModuleType:
        node = self._tree.find(name)
        if node is None and name not in IMPLICIT:
            raise ModuleNotFoundError(
                f'No module named "{name}" in self-contained archive '
                f'"{self.filename}" and the module is also not in the list of '
                f"allowed external modules: {self.extern_modules}",
                name=name,
            )
        if node is None or node.is_external:
            module = self.modules[name] = import_outside(name)
            return module
        return self._make_module(name, node.source, node.is_package, parent)

    def _make_module(
        self, name: str, path: str | None, is_package: bool, parent: str
    ) -> types.ModuleType:
        spec = importlib.machinery.ModuleSpec(
            name, self, origin="<package_importer>", is_package=is_package
        )
        module = importlib.util.module_from_spec(spec)
        file = self._mangler.mangle(path) if path else None
        module.__name__ = self._mangler.mangle(name)
        names = module.__dict__
        names.update(
            __spec__=spec,
            __loader__=self,
            __file__=file,
            __cached__=None,
            __builtins__=self.patched_builtins,
            __torch_package__=True,
        )
        self.modules[name] = module
        _package_imported_modules[module.__name__] = module
        # Before it runs, as modules that import each other look there.
        self._install_on_parent(parent, name, module)
        if path is not None:
            linecache.lazycache(file, names)
            source = self.zip_reader.get_record(path)
            exec(compile(_unix_lines(source), file, "exec", dont_inherit=True), names)
        return module

    def _install_on_parent(self, parent: str, name: str, module) -> None:
        if not parent:
            return
        above = self.modules[parent]
        if getattr(above, "__loader__", None) is self:
            setattr(above, name.rpartition(".")[2], module)

    def _find_and_load(self, name: str) -> types.ModuleType:
        module = self.modules.get(name, _MISSING)
        if module is _MISSING:
            return self._do_find_and_load(name)
        if module is None:
            raise ModuleNotFoundError(
                f"import of {name} halted; None in sys.modules", name=name
            )
        if name == "os":  # its `path` is a module of another name
            self.modules["os.path"] = module.path
        elif name == "typing":  # until Python 3.12
            for inner in ("io", "re"):
                if inner in vars(module):
                    self.modules[f"typing.{inner}"] = vars(module)[inner]
        return module

    def _do_find_and_load(self, name: str) -> types.ModuleType:
        parent, _, last = name.rpartition(".")
        if parent:
            if parent not in self.modules:
                self._gcd_import(parent)
            if name in self.modules:  # the parent has imported it
                return self.modules[name]
            above = self.modules[parent]
            if not hasattr(above, "__path__"):
                self._check_below(above, parent, name, last)
        module = self._load_module(name, parent)
        self._install_on_parent(parent, name, module)
        return module

    def _check_below(self, above, parent: str, name: str, last: str) -> None:
        """ModuleNotFoundError: nothing can be below a module that is none."""
        text = f"No module named {name!r}"
        compiled = importlib.machinery.ExtensionFileLoader
        if not isinstance(getattr(above, "__loader__", None), compiled):
            raise ModuleNotFoundError(f"{text}; {parent!r} is not a package", name=name)
        if self._tree.find(name) is None:
            raise ModuleNotFoundError(
                f"{text}; {name!r} is a c extension module which was not "
                "externed. C extension modules need to be externed by the "
                "PackageExporter in order to be used as we do not support "
                "interning them.",
                name=name,
            )
        if not isinstance(vars(above).get(last), types.ModuleType):
            raise ModuleNotFoundError(
                f"{text}; {parent!r} is a c extension package which does not "
                f"contain {name!r}.",
                name=name,
            )

    # -- the import statement --------------------------------------------------

    def _gcd_import(
        self, name: str, package: str | None = None, level: int = 0
    ) -> types.ModuleType:
        """The module of a name, relative to a package where `level` is > 0."""
        _sanity_check(name, package, level)
        if level > 0:
            name = _resolve_name(name, package, level)
        return self._find_and_load(name)

    def __import__(self, name, globals=None, locals=None, fromlist=(), level=0):
        """Imports as `__import__` does, for modules of the package."""
        package = _package_of(globals or {}) if level else None
        module = self._gcd_import(name, package, level)
        if fromlist:
            self._import_names(module, fromlist)
            return module
        first, dot, rest = name.partition(".")
        if not level:
            return self._gcd_import(first)
        # Only the first part is bound, in a relative name, too.
        full = demangle(module.__name__)
        return self.modules[full.removesuffix(dot + rest)]

    def _import_names(self, module, names, starred: bool = False) -> None:
        """Loads those of the names that are modules of a package."""
        if not hasattr(module, "__path__"):
            return
        package = demangle(module.__name__)
        for name in names:
            if not isinstance(name, str):
                where = f"{package}.__all__" if starred else "``from list''"
                raise TypeError(
                    f"Item in {where} must be str, not {type(name).__name__}"
                )
            if name == "*":
                if not starred and hasattr(module, "__all__"):
                    self._import_names(module, module.__all__, True)
            elif not hasattr(module, name):
                ours = getattr(module, "__loader__", None) is self
                self._import_if_there(f"{package}.{name}", ours)

    def _import_if_there(self, name: str, ours: bool) -> None:
        """Loads a module below a package, of which all that is outside is
        external if it is itself.
        """
        try:
            (self._gcd_import if ours else import_outside)(name)
        except ModuleNotFoundError as error:
            # Something else than a module, which the caller does not find.
            is_there = self.modules.get(name, _MISSING) is not None
            if error.name != name or not is_there:
                raise

    # -- packages and their records --------------------------------------------

    def _get_package(self, package) -> types.ModuleType:
        """A package, or that of a name. TypeError: a module that is none."""
        if not hasattr(package, "__spec__"):
            package, name = self.import_module(package), package
        else:
            name = package.__spec__.name
        if package.__spec__.submodule_search_locations is None:
            raise TypeError(f"{name!r} is not a package")
        return package

    def _zipfile_path(self, package, resource: str | None = None) -> str:
        """The path of a package, or of a record of it."""
        package = self._get_package(package)
        if package.__loader__ is not self:
            raise AssertionError(
                f"package.__loader__ must be self, got {package.__loader__}"
            )
        path = demangle(package.__name__).replace(".", "/")
        return path if resource is None else (f"{path}/{_normalize_path(resource)}")


def _opened(source) -> tuple[str, object]:
    """The name and the records of what a package is read from."""
    if isinstance(source, (PyTorchFileReader, DirectoryReader)):
        return "<pytorch_file_reader>", source
    if not isinstance(source, (str, os.PathLike)):
        return "<binary>", PyTorchFileReader(source)
    path = os.fspath(source)
    if os.path.isdir(path):
        return path, DirectoryReader(path)
    return path, PyTorchFileReader(path)


def _unix_lines(source: bytes) -> bytes:
    return source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


_plain_getfile = inspect.getfile


def _getfile(object):
    """As `inspect.getfile`, which otherwise asks `sys.modules` alone."""
    if inspect.isclass(object):
        module = _package_imported_modules.get(object.__module__)
        if module is not None:
            return module.__file__
    return _plain_getfile(object)


inspect.getfile = _getfile
