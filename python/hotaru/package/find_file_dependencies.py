"""Imports of a source text."""

from __future__ import annotations

import ast

from ._importlib import _resolve_name


def find_files_source_depends_on(
    src: str, package: str
) -> list[tuple[str, str | None]]:
    """The modules that a text may import, each once and in order.

    Counted are import statements, wherever they stand, and calls of
    `__import__` whose arguments are written out.

    Args:
        src: Python's source text.
        package: what relative names are relative to.

    Returns:
        Pairs of a module and, where it is imported from, a name, of which the
        text does not tell whether it is a module.

    Raises:
        SyntaxError: no such text. ValueError: a relative name that leads out
            of all packages.
    """
    finder = _Imports(package)
    finder.visit(ast.parse(src))
    return list(finder.found)


class _Imports(ast.NodeVisitor):
    def __init__(self, package: str) -> None:
        self._package = package
        self.found: dict[tuple[str, str | None], None] = {}

    def _add(self, module: str, names=(None,)) -> None:
        for name in names:
            self.found[module, None if name == "*" else name] = None

    def _absolute(self, name: str | None, level: int | None) -> str:
        if not level:
            return name
        return _resolve_name(name, self._package, level)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        names = [alias.name for alias in node.names]
        self._add(self._absolute(node.module, node.level), names)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if getattr(node.func, "id", None) != "__import__":
            return
        try:
            name, names, level = _arguments(node)
            if names:
                self._add(self._absolute(name, level), names)
                return
            self._add(name)
            # Without names the call returns the package around.
            above = name.rpartition(".")[0]
            if above:
                self._add(self._absolute(above, level))
        except (ValueError, TypeError, AttributeError):
            return  # known only when it runs


def _arguments(node: ast.Call) -> tuple[str, list[str], int]:
    """Name, names from it and level of a call of `__import__`."""
    order = ("name", "globals", "locals", "fromlist", "level")
    given = dict(zip(order, node.args))
    given.update((keyword.arg, keyword.value) for keyword in node.keywords)

    def value(key: str, default):
        return ast.literal_eval(given[key]) if key in given else default

    return value("name", None), list(value("fromlist", ())), value("level", 0)
