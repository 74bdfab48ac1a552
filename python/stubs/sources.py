"""Names that a type checker sees in the package's files without running them."""

from __future__ import annotations

import ast
import importlib.util
import pathlib
import sys
from dataclasses import dataclass, field

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Source:
    """The names that a file binds at its top level.

    `defined` are by class, def or assignment, `imported` are from modules of
    any package: (module, name), name None for the module itself.
    """

    name: str
    path: pathlib.Path
    defined: dict[str, ast.stmt] = field(default_factory=dict)
    imported: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)

    @property
    def answers_any(self) -> bool:
        """True if the module has a `__getattr__`, which answers any name."""
        return isinstance(self.defined.get("__getattr__"), _FUNCTIONS)

    def bound(self) -> set[str]:
        """All names but those of stars."""
        return {*self.defined, *self.imported}


def read(name: str) -> Source | None:
    """The source of a loaded module of the package; None for one without a file
    of its own, such as those that give things another name.
    """
    file = getattr(sys.modules.get(name), "__file__", None)
    path = pathlib.Path(file if isinstance(file, str) else "")
    if path.suffix != ".py":
        return None
    here = path.parent if path.name == "__init__.py" else path.with_suffix("")
    parts = tuple(name.split("."))
    if here.parts[-len(parts) :] != parts:
        return None
    text = path.read_text(encoding="utf-8")
    source = Source(name, path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    _walk(ast.parse(text).body, source, package)
    source.comments.update(_comments(text))
    return source


def _walk(body: list[ast.stmt], source: Source, package: str) -> None:
    for node in body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            source.defined[node.name] = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            _assigned(node, source)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                source.imported[bound] = (alias.name, None)
        elif isinstance(node, ast.ImportFrom):
            _imported(node, source, package)
        elif isinstance(node, ast.If):
            test = ast.unparse(node.test)
            body = [] if test == "not TYPE_CHECKING" else node.body
            other = [] if test == "TYPE_CHECKING" else node.orelse
            _walk(body + other, source, package)
        elif isinstance(node, ast.Try):
            _walk(node.body, source, package)


def _assigned(node: ast.Assign | ast.AnnAssign, source: Source) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        for part in parts:
            if isinstance(part, ast.Name):
                source.defined[part.id] = node


def _imported(node: ast.ImportFrom, source: Source, package: str) -> None:
    relative = "." * node.level + (node.module or "")
    module = importlib.util.resolve_name(relative, package) if node.level else relative
    for alias in node.names:
        if alias.name == "*":
            source.stars.append(module)
        else:
            source.imported[alias.asname or alias.name] = (module, alias.name)


def _comments(text: str) -> dict[str, str]:
    """Comments `#: ...` above an assignment, as one line each, by its name."""
    out = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("#: "):
            lines.append(line[3:])
            continue
        name, equals, _ = line.partition(" = ")
        if lines and equals and name.isidentifier():
            out[name] = " ".join(lines)
        lines = []
    return out
