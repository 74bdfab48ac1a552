"""Needs of a package: rules, and the graph of modules that they make."""

from __future__ import annotations

import importlib.machinery
import linecache
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from types import ModuleType

from ..utils.hooks import RemovableHandle
from ._digraph import DiGraph
from ._errors import _DISALLOWED_MODULES, PackagingErrorReason
from ._mangling import demangle, is_mangled
from ._patterns import Patterns, _ModuleProviderAction, _PatternInfo
from ._pickled_names import pickled_names
from ._stdlib import is_stdlib_module
from .find_file_dependencies import find_files_source_depends_on
from .glob_group import GlobGroup, GlobPattern
from .importer import Importer

_Action = _ModuleProviderAction
_OURS = ("torch", "hotaru")  # whoever loads a package has it

ActionHook = Callable[["Dependencies", str], None]


class Dependencies:
    """The part of an exporter that knows modules, and writes nothing.

    Args:
        importer: where modules are found.

    Attributes:
        dependency_graph: who needs whom. patterns: the rules, in order.
    """

    importer: Importer

    def __init__(self, importer: Importer) -> None:
        self.importer = importer
        self.dependency_graph = DiGraph()
        self.patterns = Patterns()
        self._hooks: dict[_Action, OrderedDict] = {
            action: OrderedDict()
            for action in (_Action.EXTERN, _Action.MOCK, _Action.INTERN)
        }

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

    def add_dependency(self, module_name: str, dependencies: bool = True) -> None:
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
                f"Module not found: '{module_name}'. "
                "Make sure the PackageImporter that created this module is "
                "present in `self.importer`"
            ) from None

    def _intern_module(self, module_name: str, dependencies: bool) -> None:
        module = self._import_module(module_name)
        # A module found under a package's name is written under its own.
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
            if attributes.get("action") is action and "is_pickle" not in attributes
        )


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


def _why_no_source(module: ModuleType) -> tuple[PackagingErrorReason, str | None]:
    filename = getattr(module, "__file__", None)
    if filename is None:
        return PackagingErrorReason.NO_DUNDER_FILE, None
    if filename.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return PackagingErrorReason.IS_EXTENSION_MODULE, None
    context = f"filename: {filename}"
    return PackagingErrorReason.SOURCE_FILE_NOT_FOUND, context
