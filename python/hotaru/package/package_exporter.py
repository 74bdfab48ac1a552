"""Writing packages."""

from __future__ import annotations

import io
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from .. import jit
from ..serialization._file_classes import PyTorchFileWriter
from ._dependencies import Dependencies
from ._errors import EmptyMatchError, PackagingError, PackagingErrorReason
from ._importlib import _normalize_path
from ._mangling import is_mangled
from ._package_pickler import create_pickler
from ._patterns import _ModuleProviderAction
from ._script_archives import ScriptWriter
from ._storages import WrittenStorages
from .importer import Importer, OrderedImporter, sys_importer

__all__ = [
    "EmptyMatchError",
    "PackageExporter",
    "PackagingError",
    "PackagingErrorReason",
]

# Set if compiled modules are refused; programs set it to False to have them.
_gate_torchscript_serialization = True

_Action = _ModuleProviderAction
_FIRST_VERSION = 6
_MOCK_IMPL = """\
from _mock import MockedObject
def __getattr__(attr: str):
    return MockedObject(__name__ + '.' + attr, _suppress_err=True)
"""


class PackageExporter(Dependencies):
    """Writes source code, pickles and other records into one file.

    A with statement closes it; where that ends with an exception the file is
    left without sources. Modules that something written needs are treated by
    the first pattern that matches (`intern`, `extern`, `mock`, `deny`). The
    library itself and Python's own modules, but for `sys` and `io`, are taken
    from where the package is loaded. Not for several threads at once.

    Args:
        f: a path or a file opened for writing bytes.
        importer: where modules and names of objects are found, or several of
            them in turn; with those of packages their modules can be written
            again.
        debug: whether a PackagingError says by which way a module was needed.

    Attributes:
        dependency_graph: who needs whom. importer: the one in use.
    """

    def __init__(
        self,
        f,
        importer: Importer | Sequence[Importer] = sys_importer,
        debug: bool = False,
    ) -> None:
        if not isinstance(importer, (Importer, Sequence)):
            raise TypeError(
                "importer arg should be an Importer or a sequence of "
                f"Importers, got {type(importer)} instead."
            )
        self.debug = debug
        self.buffer = None if isinstance(f, (str, os.PathLike)) else f
        self.zip_file = PyTorchFileWriter(f)
        self.zip_file.set_min_version(_FIRST_VERSION)
        if not isinstance(importer, Importer):
            importer = OrderedImporter(*importer)
        super().__init__(importer)
        self.storage_context = WrittenStorages(self.zip_file)
        self.script_module_serializer = ScriptWriter(
            self.zip_file, self.storage_context
        )
        self.serialized_reduces: dict[int, tuple] = {}
        self._reduced: list = []  # so that no other object gets their ids
        self._written_files: set[str] = set()
        self._unique_id = 0

    # -- what is written -------------------------------------------------------

    def save_module(self, module_name: str, dependencies: bool = True) -> None:
        """Writes a module's source.

        Args:
            module_name: as the importer finds it.
            dependencies: whether the modules that it imports are looked at.

        Raises:
            TypeError: a module instead of its name. ModuleNotFoundError: none
                of that name.
        """
        if not isinstance(module_name, str):
            raise TypeError(
                "save_module() expects a string input, did you perhaps mean to "
                "pass `__name__`?"
            )
        self._intern_module(module_name, dependencies)

    def save_source_file(
        self, module_name: str, file_or_directory: str, dependencies: bool = True
    ) -> None:
        """Writes a file as the source of a module.

        Args:
            module_name: the name of the module in the package.
            file_or_directory: a file, of a package where it is called
                `__init__.py`; or a folder, whose Python files, those of inner
                folders too, become modules below the name.
            dependencies: whether the modules that it imports are looked at.
        """
        path = Path(file_or_directory)
        if not path.is_dir():
            is_package = path.name == "__init__.py"
            source = _read_file(path)
            self.save_source_string(module_name, source, is_package, dependencies)
            return
        found = {}
        for file in path.glob("**/*.py"):
            parts = [module_name, *file.relative_to(path).parts[:-1]]
            is_package = file.name == "__init__.py"
            if not is_package:
                parts.append(file.stem)
            found[".".join(parts)] = (_read_file(file), is_package)
        # All are there before the first is asked for what it imports.
        for name, (source, is_package) in found.items():
            self._provide(name, source, is_package)
        if dependencies:
            for name, (source, is_package) in found.items():
                self._require(source, name, is_package)

    def save_source_string(
        self,
        module_name: str,
        src: str,
        is_package: bool = False,
        dependencies: bool = True,
    ) -> None:
        """Writes a text as the source of a module.

        Args:
            module_name: the name of the module in the package.
            src: Python's source text.
            is_package: whether the module can have others below it.
            dependencies: whether the modules that it imports are looked at.
        """
        self._provide(module_name, src, is_package)
        if dependencies:
            self._require(src, module_name, is_package)

    def save_text(self, package: str, resource: str, text: str) -> None:
        """Writes a text as a record `resource` of a package."""
        self.save_binary(package, resource, text.encode("utf-8"))

    def save_binary(self, package: str, resource: str, binary: bytes) -> None:
        """Writes bytes as a record `resource` of a package."""
        self._write(self._filename(package, resource), binary)

    def save_pickle(
        self,
        package: str,
        resource: str,
        obj,
        dependencies: bool = True,
        pickle_protocol: int = 3,
    ) -> None:
        """Writes an object, pickled, as a record `resource` of a package.

        Tensors that share memory, in whichever pickles of the file, do so when
        they are loaded by one call.

        Args:
            dependencies: whether the modules of its classes are looked at.
            pickle_protocol: 3 or 4.

        Raises:
            pickle.PicklingError, TypeError: what pickle refuses, and classes
                that the importer does not find. AssertionError: another
                protocol.
        """
        if pickle_protocol not in (3, 4):
            raise AssertionError(
                "torch.package only supports pickle protocols 3 and 4, got "
                f"{pickle_protocol}"
            )
        filename = self._filename(package, resource)
        file = io.BytesIO()
        pickler = create_pickler(file, self.importer, protocol=pickle_protocol)
        pickler.entry = self._persistent_id
        pickler.dump(obj)
        data = file.getvalue()
        node = f"<{package}.{resource}>"
        self.dependency_graph.add_node(
            node, action=_Action.INTERN, provided=True, is_pickle=True
        )
        if dependencies:
            self._require_pickled(data, node, package, resource)
        self._write(filename, data)

    def get_unique_id(self) -> str:
        """A text that no other call on this exporter returns."""
        self._unique_id += 1
        return str(self._unique_id - 1)

    # -- the file --------------------------------------------------------------

    def close(self) -> None:
        """Writes the modules and ends the file; nothing may follow.

        Raises:
            PackagingError: modules that cannot be packaged.
            EmptyMatchError: patterns that had to match something.
        """
        self._execute_dependency_graph()
        self._write(".data/python_version", platform.python_version())
        self.script_module_serializer.write_files()
        self._finalize_zip()

    def __enter__(self) -> PackageExporter:
        return self

    def __exit__(self, kind, *_) -> None:
        if kind is None:
            self.close()
        else:
            self._finalize_zip()

    def _finalize_zip(self) -> None:
        self.zip_file.write_end_of_file()
        del self.zip_file
        if self.buffer:
            self.buffer.flush()

    def _execute_dependency_graph(self) -> None:
        self._validate_dependency_graph()
        external = []
        for name, attributes in list(self.dependency_graph.nodes.items()):
            action = attributes["action"]
            for hook in tuple(self._hooks.get(action, {}).values()):
                hook(self, name)
            if action is _Action.EXTERN:
                external.append(name)
            elif action is _Action.MOCK:
                self._write_mock_file()
                is_package = hasattr(self._import_module(name), "__path__")
                self._write_source_string(name, _MOCK_IMPL, is_package)
            elif action is _Action.REPACKAGED_MOCK_MODULE:
                self._write_mock_file()
            elif action is _Action.INTERN and "is_pickle" not in attributes:
                self._write_source_string(
                    name, attributes["source"], attributes["is_package"]
                )
        self._write(".data/extern_modules", "\n".join(external) + "\n")

    def _validate_dependency_graph(self) -> None:
        nodes = self.dependency_graph.nodes.values()
        if any("error" in attributes for attributes in nodes):
            raise PackagingError(self.dependency_graph, debug=self.debug)
        pattern = self.patterns.unmatched()
        if pattern is not None:
            raise EmptyMatchError(
                f"Exporter did not match any modules to {pattern}, which was "
                "marked as allow_empty=False"
            )

    def _write_mock_file(self) -> None:
        if "_mock.py" not in self._written_files:
            source = _read_file(Path(__file__).parent / "_mock.py")
            self._write_source_string("_mock", source)

    def _write_source_string(
        self, module_name: str, src: str, is_package: bool = False
    ) -> None:
        ending = "/__init__.py" if is_package else ".py"
        self._write(module_name.replace(".", "/") + ending, src)

    def _filename(self, package: str, resource: str) -> str:
        return f"{package.replace('.', '/')}/{_normalize_path(resource)}"

    def _write(self, filename: str, data: str | bytes) -> None:
        if filename in self._written_files:
            raise AssertionError(
                f"Tried to write file '{filename}', but it already exists in "
                "this archive. Please file a bug."
            )
        if is_mangled(filename):
            raise AssertionError(
                f"Tried to save a torch.package'd module as '{filename}'. "
                "Directly saving torch.package'd modules is not allowed."
            )
        self._written_files.add(filename)
        data = data.encode("utf-8") if isinstance(data, str) else data
        self.zip_file.write_record(filename, data, len(data))

    def _persistent_id(self, obj) -> tuple | None:
        """Entry of an object that a pickle names instead of holding it."""
        storage = self.storage_context.entry(obj)
        if storage is not None:
            return storage
        if not hasattr(obj, "__reduce_package__") or isinstance(obj, type):
            return None
        is_script = isinstance(obj, jit.RecursiveScriptModule)
        if is_script and _gate_torchscript_serialization:
            raise Exception(
                "Serializing ScriptModules directly into a package is a beta "
                "feature. To use, set global `torch.package.package_exporter."
                "_gate_torchscript_serialization` to `False`."
            )
        known = self.serialized_reduces.get(id(obj))
        if known is None:
            made = obj.__reduce_package__(self)
            known = ("reduce_package", id(obj), *made)
            self.serialized_reduces[id(obj)] = known
            self._reduced.append(obj)
        return known


def _read_file(path) -> str:
    return Path(path).read_bytes().decode("utf-8")
