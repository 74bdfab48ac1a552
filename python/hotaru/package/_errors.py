"""Why a package cannot be written."""

from __future__ import annotations

from collections import defaultdict
from enum import Enum

from ._digraph import DiGraph

# Python's own, but with so much power that they have to be asked for.
_DISALLOWED_MODULES = ["sys", "io"]


class PackagingErrorReason(Enum):
    """Faults of a module; the value says which."""

    IS_EXTENSION_MODULE = (
        "Module is a C extension module. torch.package supports Python modules only."
    )
    NO_DUNDER_FILE = "Module had no __file__ defined."
    SOURCE_FILE_NOT_FOUND = (
        "Module had a __file__, but we could not find it in your filesystem."
    )
    DEPENDENCY_RESOLUTION_FAILED = "Dependency resolution failed."
    NO_ACTION = (
        "Module did not match against any action pattern. Extern, mock, or intern it."
    )
    DENIED = "Module was denied by a pattern."
    MOCKED_BUT_STILL_USED = (
        "Module was mocked out, but is still being used in the package. Please "
        "intern or extern the mocked modules if objects are supposed to be in "
        "the package."
    )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}>"


class EmptyMatchError(Exception):
    """A pattern that has to match some module has matched none."""


class PackagingError(Exception):
    """Modules cannot be packaged; the text lists them by their reasons.

    Attributes:
        dependency_graph: the graph of what needs what, in which those modules
            have the attribute "error".
    """

    def __init__(self, dependency_graph: DiGraph, debug: bool = False) -> None:
        self.dependency_graph = dependency_graph
        broken = defaultdict(list)
        for name, attributes in dependency_graph.nodes.items():
            if attributes.get("error") is not None:
                broken[attributes["error"]].append(name)
        lines = []
        for reason, names in broken.items():
            lines.append(f"* {reason.value}")
            for name in names:
                lines.append(f"    {name}")
                lines += (f"      {note}" for note in self._notes(name, debug))
        text = "\n".join(["", *lines, ""])
        if not debug:
            text += (
                "\nSet debug=True when invoking PackageExporter for a "
                "visualization of where broken modules are coming from!\n"
            )
        super().__init__(text)

    def _notes(self, name: str, debug: bool):
        graph = self.dependency_graph
        context = graph.nodes[name].get("error_context")
        if context is not None:
            yield f"Context: {context}"
        if name in _DISALLOWED_MODULES:
            yield (
                "Note: While we usually use modules in the python standard "
                f"library from the local environment, `{name}` has a lot of "
                "system level access and therefore can pose a security risk. "
                f"We heavily recommend removing `{name}` from your packaged "
                "code. However, if that is not possible, add it to the extern "
                f'list by calling PackageExporter.extern("`{name}`")'
            )
        if debug:
            yield f"A path to {name}: {' -> '.join(graph.first_path(name))}"
