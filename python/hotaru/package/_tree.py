"""The modules that a package has, by their names."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Node:
    """A module or a package.

    Attributes:
        source: the path of its source, None for a folder without one.
        is_package: whether there can be modules below it.
        is_external: whether it, with all below it, comes from outside.
    """

    source: str | None = None
    is_package: bool = True
    is_external: bool = False
    children: dict[str, Node] = field(default_factory=dict)


class Tree:
    """Contents of a package and what it takes from outside."""

    def __init__(self) -> None:
        self._root = Node()

    def find(self, name: str) -> Node | None:
        """The node of a module, or of the external one that it is below."""
        at = self._root
        for part in name.split("."):
            if part not in at.children:
                return None
            at = at.children[part]
            if at.is_external:
                break
        return at

    def add_external(self, name: str) -> None:
        """Says that a module comes from outside."""
        *above, last = name.split(".")
        package = self._package(above)
        if not package.is_external:
            package.children[last] = Node(is_external=True)

    def add_file(self, path: str) -> None:
        """Adds the module of a Python file, and the folders around any file.

        ImportError: its folder is a module already.
        """
        *folders, last = path.split("/")
        if len(folders) > 1 and folders[0] == ".data":
            return
        package = self._package(folders)
        if package.is_external:
            raise ImportError(
                "inconsistent module structure. package contains a module file "
                f"{path} that is a subpackage of a module marked external."
            )
        if last == "__init__.py":
            package.source = path
        elif last.endswith(".py"):
            name = last.removesuffix(".py")
            package.children[name] = Node(path, is_package=False)

    def _package(self, parts: list[str]) -> Node:
        """The node of a package, made if it is missing, or of an external."""
        at = self._root
        for i, part in enumerate(parts):
            at = at.children.setdefault(part, Node())
            if at.is_external:
                return at
            if not at.is_package:
                name = ".".join(parts[: i + 1])
                raise ImportError(
                    "inconsistent module structure. "
                    f"module {name} is not a package, but has submodules"
                )
        return at
