"""Writing packages."""

from __future__ import annotations

import importlib.machinery
import io
import linecache
import os
import platform
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from .. import jit
from ..serialization._file_classes import PyTorchFileWriter
from ..utils.hooks import RemovableHandle
from ._digraph import DiGraph
from ._errors import (
    _DISALLOWED_MODULES,
    EmptyMatchError,
    PackagingError,
    PackagingErrorReason,
)
from ._importlib import _normalize_path
from ._mangling import demangle, is_mangled
from ._package_pickler import create_pickler
from ._patterns import Patterns, _ModuleProviderAction, _PatternInfo
from ._pickled_names import pickled_names
from ._script_archives import ScriptWriter
from ._stdlib import is_stdlib_module
from ._storages import WrittenStorages
from .find_file_dependencies import find_files_source_depends_on
from .glob_group import GlobGroup, GlobPattern
from .importer import Importer, OrderedImporter, sys_importer

__all__ = [
    "EmptyMatchError",
    "PackageExporter",
    "PackagingError",
    "PackagingErrorReason",
]

# Whether compiled modules are refused; programs set it to False to have them.
_gate_torchscript_serialization = True

_Action = _ModuleProviderAction
_OURS = ("torch", "hotaru")  # whoever loads a package has it
_FIRST_VERSION = 6
_MOCK_IMPL = """\
from _mock import MockedObject
def __getattr__(attr: str):
    return MockedObject(__name__ + '.' + attr, _suppress_err=True)
"""

ActionHook = Callable[["PackageExporter", str], None]


class PackageExporter:
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

    importer: Importer

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
        self.importer = importer
        self.dependency_graph = DiGraph()
        self.patterns = Patterns()
        self.storage_context = WrittenStorages(self.zip_file)
        self.script_module_serializer = ScriptWriter(
            self.zip_file, self.storage_context
        )
        self.serialized_reduces: dict[int, tuple] = {}
        self._reduced: list = []  # so that no other object gets their ids
        self._written_files: set[str] = set()
        self._unique_id = 0
        self._hooks: dict[_Action, OrderedDict] = {
            action: OrderedDict()
            for action in (_Action.EXTERN, _Action.MOCK, _Action.INTERN)
        }

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
        self,
        module_name: str,
        file_or_directory: str,
        dependencies: bool = True,
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
            self.save_source_string(
                module_name, source, is_package, dependencies
            )
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

    # -- rules -----------------------------------------------------------------

    def intern(
        self,
        include: GlobPattern,
        *,
        exclude: GlobPattern = (),
        allow_empty: bool = True,
    ) -> None:
        """The sources of these modules are written, with what they need.

        Args:
            include, exclude: as `GlobGroup` takes them.
            allow_empty: if False, `close` raises an EmptyMatchError unless
                some module has matched.
        """
        self._add_rule(_Action.INTERN, include, exclude, allow_empty)

    def extern(
        self,
        include: GlobPattern,
        *,
        exclude: GlobPattern = (),
        allow_empty: bool = True,
    ) -> None:
        """These modules come from where the package is loaded.

        The arguments are those of `intern`.
        """
        self._add_rule(_Action.EXTERN, include, exclude, allow_empty)

    def mock(
        self,
        include: GlobPattern,
        *,
        exclude: GlobPattern = (),
        allow_empty: bool = True,
    ) -> None:
        """These modules can be imported, but not used.

        The arguments are those of `intern`.
        """
        self._add_rule(_Action.MOCK, include, exclude, allow_empty)

    def deny(self, include: GlobPattern, *, exclude: GlobPattern = ()) -> None:
        """Needing one of these modules is an error."""
        self._add_rule(_Action.DENY, include, exclude, True)

    def _add_rule(self, action, include, exclude, allow_empty: bool) -> None:
        pattern = GlobGroup(include, exclude=exclude)
        self.patterns[pattern] = _PatternInfo(action, allow_empty)

    def register_extern_hook(self, hook: ActionHook) -> RemovableHandle:
        """Calls hook(exporter, name) for each external module, at the end."""
        return self._register(_Action.EXTERN, hook)

    def register_mock_hook(self, hook: ActionHook) -> RemovableHandle:
        """Calls hook(exporter, name) for each mocked module, at the end."""
        return self._register(_Action.MOCK, hook)

    def register_intern_hook(self, hook: ActionHook) -> RemovableHandle:
        """Calls hook(exporter, name) for each module written, at the end."""
        return self._register(_Action.INTERN, hook)

    def _register(self, action: _Action, hook: ActionHook) -> RemovableHandle:
        handle = RemovableHandle(self._hooks[action])
        self._hooks[action][handle.id] = hook
        return handle

    # -- what needs what -------------------------------------------------------

    def add_dependency(
        self, module_name: str, dependencies: bool = True
    ) -> None:
        """Treats a module as one that something in the package needs."""
        graph = self.dependency_graph
        if graph.nodes.get(module_name, {}).get("provided"):
            return
        action = self._special_action(module_name)
        if action is not None:
            graph.add_node(module_name, action=action, provided=True)
            return
        rule = self.patterns.first(module_name)
        if rule is None:
            graph.add_node(module_name, error=PackagingErrorReason.NO_ACTION)
            return
        rule.was_matched = True
        graph.add_node(module_name, action=rule.action, provided=True)
        if rule.action is _Action.DENY:
            graph.add_node(module_name, error=PackagingErrorReason.DENIED)
        elif rule.action is _Action.INTERN:
            self._intern_module(module_name, dependencies)

    def _special_action(self, module_name: str) -> _Action | None:
        if module_name == "torch_package_importer":
            return _Action.SKIP
        if module_name == "_mock":
            return _Action.REPACKAGED_MOCK_MODULE
        if self._can_implicitly_extern(module_name):
            return _Action.EXTERN
        return None

    def _can_implicitly_extern(self, module_name: str) -> bool:
        top = module_name.partition(".")[0]
        if top in _OURS:
            return True
        return top not in _DISALLOWED_MODULES and is_stdlib_module(top)

    def _provide(self, module_name: str, source: str, is_package: bool) -> None:
        self.dependency_graph.add_node(
            module_name,
            source=source,
            is_package=is_package,
            provided=True,
            action=_Action.INTERN,
        )

    def _require(self, source: str, module_name: str, is_package: bool) -> None:
        """Treats all that a source imports."""
        for name in self._get_dependencies(source, module_name, is_package):
            self.dependency_graph.add_edge(module_name, name)
            self.add_dependency(name)

    def _require_pickled(self, data, node: str, package, resource) -> None:
        """Treats the modules whose names a pickle has."""
        names: dict[str, list[str]] = defaultdict(list)
        for module, name in pickled_names(data):
            names[module].append(name)
        for module, fields in names.items():
            self.dependency_graph.add_edge(node, module)
            rule = self.patterns.first(module)
            if (
                rule is None
                or rule.action is not _Action.MOCK
                or self._can_implicitly_extern(module)
            ):
                self.add_dependency(module)
                continue
            self.dependency_graph.add_node(
                module,
                action=_Action.MOCK,
                error=PackagingErrorReason.MOCKED_BUT_STILL_USED,
                error_context=(
                    f"Object(s) '{fields}' from module `{module}` was mocked "
                    f"out during packaging but is being used in resource - "
                    f"`{resource}` in package `{package}`. "
                ),
                provided=True,
            )

    def _get_dependencies(
        self, src: str, module_name: str, is_package: bool
    ) -> list[str]:
        """The modules that a source needs, each once and in order."""
        package = (
            module_name if is_package else module_name.rpartition(".")[0]
        ) or module_name
        try:
            pairs = find_files_source_depends_on(src, package)
        except Exception as error:
            self.dependency_graph.add_node(
                module_name,
                error=PackagingErrorReason.DEPENDENCY_RESOLUTION_FAILED,
                error_context=str(error),
            )
            return []
        found: dict[str, None] = {}
        for module, name in pairs:
            inner = f"{module}.{name}"
            if name is not None and self._module_exists(inner):
                found[inner] = None  # which asks for its package itself
            elif self._module_exists(module):
                found[module] = None
        return list(found)

    def _module_exists(self, module_name: str) -> bool:
        try:
            self._import_module(module_name)
        except Exception:
            return False
        return True

    def _import_module(self, module_name: str) -> ModuleType:
        try:
            return self.importer.import_module(module_name)
        except ModuleNotFoundError:
            if not is_mangled(module_name):
                raise
            raise ModuleNotFoundError(
                f"Module not found: '{module_name}'. Make sure the "
                "PackageImporter that created this module is present in "
                "`self.importer`"
            ) from None

    def _intern_module(self, module_name: str, dependencies: bool) -> None:
        module = self._import_module(module_name)
        # What was found under a package's name is written under its own.
        module_name = demangle(module_name)
        is_package = hasattr(module, "__path__")
        source = _get_source_of_module(module)
        if source is None:
            reason, context = _why_no_source(module)
            self.dependency_graph.add_node(
                module_name,
                action=_Action.INTERN,
                is_package=is_package,
                error=reason,
                error_context=context,
                provided=True,
            )
            return
        self._provide(module_name, source, is_package)
        if dependencies:
            self._require(source, module_name, is_package)

    # -- what one can ask ------------------------------------------------------

    def dependency_graph_string(self) -> str:
        """The graph of what needs what, as Graphviz reads it."""
        return self.dependency_graph.to_dot()

    def all_paths(self, src: str, dst: str) -> str:
        """The ways by which one module needs another, as Graphviz's text."""
        return self.dependency_graph.all_paths(src, dst)

    def get_rdeps(self, module_name: str) -> list[str]:
        """The modules and pickles that need a module."""
        return list(self.dependency_graph._pred.get(module_name, ()))

    def externed_modules(self) -> list[str]:
        """The modules, so far, that come from outside."""
        return self._nodes_with_action_type(_Action.EXTERN)

    def interned_modules(self) -> list[str]:
        """The modules, so far, whose sources are written."""
        return self._nodes_with_action_type(_Action.INTERN)

    def mocked_modules(self) -> list[str]:
        """The modules, so far, that are mocked."""
        return self._nodes_with_action_type(_Action.MOCK)

    def denied_modules(self) -> list[str]:
        """The modules, so far, that are needed and denied."""
        return self._nodes_with_action_type(_Action.DENY)

    def _nodes_with_action_type(self, action: _Action) -> list[str]:
        return sorted(
            name
            for name, attributes in self.dependency_graph.nodes.items()
            if attributes.get("action") is action
            and "is_pickle" not in attributes
        )

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
        """What stands for an object in a pickle, where it is not in it."""
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


def _get_source_of_module(module: ModuleType) -> str | None:
    """The source text of a module, or None."""
    filename = None
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    if isinstance(loader, SourceFileLoader):
        try:
            filename = loader.get_filename(module.__name__)
        except ImportError:
            filename = None  # the module goes by another name
    if filename is None:
        filename = getattr(module, "__file__", None)
    if not isinstance(filename, str) or not filename.endswith(".py"):
        return None
    return "".join(linecache.getlines(filename, module.__dict__))


def _why_no_source(
    module: ModuleType,
) -> tuple[PackagingErrorReason, str | None]:
    filename = getattr(module, "__file__", None)
    if filename is None:
        return PackagingErrorReason.NO_DUNDER_FILE, None
    if filename.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return PackagingErrorReason.IS_EXTENSION_MODULE, None
    context = f"filename: {filename}"
    return PackagingErrorReason.SOURCE_FILE_NOT_FOUND, context


def _read_file(path) -> str:
    return Path(path).read_bytes().decode("utf-8")
