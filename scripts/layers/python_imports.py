"""Imports among the Python files of a package.

A name that a file takes from a package it lies in (`from .. import no_grad`)
comes from the file that makes it: the package's own imports say which, and the
tables by which it finds names late. Names that the extension makes come from
nobody. Imports for type checkers are none.

What a program would write, `hotaru.nn.functional.relu`, is looked up when the
line runs: at module level that is an import, within functions it is not
(TorchScript's sources are written so).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Import(NamedTuple):
    """One module that a file needs, and where it says so."""

    line: int
    target: str


@dataclass
class Module:
    """A file, by the name that Python knows it by.

    `nodes` are those of its tree, but for what type checkers read alone, each
    with whether it runs only when a function is called.
    """

    name: str
    file: str
    tree: ast.Module
    nodes: list[tuple[ast.AST, bool]]

    @property
    def package(self) -> str:
        """The package that the file lies in; its own name if it is one."""
        if self.file.endswith("/__init__.py"):
            return self.name
        return self.name.rpartition(".")[0]


def read_modules(files: list[str], source: str) -> dict[str, Module]:
    """The modules of Python's files below a folder, by their names."""
    found = {}
    for file in files:
        if not file.startswith(f"{source}/") or not file.endswith(".py"):
            continue
        parts = Path(file).relative_to(source).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        tree = parsed(file)
        found[name] = Module(name, file, tree, _nodes(tree))
    return found


def parsed(file: str) -> ast.Module:
    """The tree of a file, which is read once."""
    return _parsed(Path(file).absolute())


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), path)


class Imports:
    """Finds which module an import, or a name of a package, comes from."""

    def __init__(self, modules: dict[str, Module]) -> None:
        self.modules = modules
        self._offered = {name: self._face(module) for name, module in modules.items()}

    def of(self, module: Module) -> Iterator[Import]:
        """Every module of the package that this one imports."""
        roots = {
            alias.asname or alias.name
            for node, _ in module.nodes
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name in self.modules and "." not in alias.name
        }
        for node, late in module.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in self.modules and "." in alias.name:
                        yield Import(node.lineno, alias.name)
            elif isinstance(node, ast.ImportFrom):
                for target in self._targets(module, node):
                    yield Import(node.lineno, target)
            elif isinstance(node, ast.Attribute) and not late:
                target = self._attribute(node, roots)
                if target is not None:
                    yield Import(node.lineno, target)

    def made_in(self, package: str, name: str) -> str | None:
        """The module that makes a name of a package, the package if it does
        itself, None where nobody can tell.
        """
        seen = set()
        while (package, name) not in seen:
            seen.add((package, name))
            inside = f"{package}.{name}"
            if inside in self.modules:
                return inside
            if package not in self.modules:
                return None
            place = self._offered[package].get(name)
            if place is None:
                return package
            package, name = place
        return package

    def _targets(self, module: Module, node: ast.ImportFrom) -> Iterator[str]:
        home = imported_from(module, node)
        if home.partition(".")[0] not in self.modules:
            return
        above = module.name.startswith(f"{home}.")
        for alias in node.names:
            inside = f"{home}.{alias.name}"
            if above:
                target = self.made_in(home, alias.name)
                if target not in (None, home):
                    yield target
            elif inside in self.modules:
                yield inside
            elif home in self.modules:
                yield home

    def _attribute(self, node: ast.Attribute, roots: set[str]) -> str | None:
        """The module of `hotaru.nn.functional.relu`."""
        names = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in roots:
            return None
        place = root = next(m for m in self.modules if "." not in m)
        for name in names:
            found = self.made_in(place, name)
            if found in (None, place):
                break
            place = found
        return place if place != root else None

    def _face(self, module: Module) -> dict[str, tuple[str, str]]:
        """Where a module has names from: (module, the name there)."""
        found = {}
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom):
                home = imported_from(module, node)
                for alias in node.names:
                    found[alias.asname or alias.name] = home, alias.name
            elif isinstance(node, ast.Assign):
                found.update(self._table(module.name, node.value))
        return found

    def _table(self, package: str, value: ast.expr) -> dict:
        """A table of names that are imported late, {module: "names..."}."""
        found = {}
        if not isinstance(value, ast.Dict):
            return found
        for key, names in zip(value.keys, value.values):
            if not (_is_text(key) and _is_text(names)):
                continue
            home = f"{package}.{key.value}"
            if home in self.modules:
                found.update((n, (home, n)) for n in names.value.split())
        return found


def imported_from(module: Module, node: ast.ImportFrom) -> str:
    """The absolute name of the module that names are imported from."""
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, *filter(None, [node.module])])


def _is_text(node) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _nodes(tree: ast.Module) -> list[tuple[ast.AST, bool]]:
    found = []
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, late = pending.pop()
        late = late or isinstance(node, _FUNCTIONS)
        children = ast.iter_child_nodes(node)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            children = node.orelse
        inner = [(child, late) for child in children]
        found += inner
        pending += inner
    return found
