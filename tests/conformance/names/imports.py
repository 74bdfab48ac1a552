"""Names of PyTorch that the sources of libraries read: which are missing here.

    imports.py FOLDER ...            prints what is missing, and who reads it
    imports.py --record FOLDER ...   writes imports.txt from the sources, too
    imports.py                       asks for the names of imports.txt

A FOLDER is a library's source, or holds several, as `site-packages`. Names are
those of imports, and of attributes of modules, of which a part begins with an
underscore. A line of imports.txt is a name, as
"torch._utils:_get_device_module" of an import or "torch._C._get_accelerator",
and the libraries that read it. Names that a library asks for first (in a
`try`, or by `hasattr`) are recorded as well: it takes another way there.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import importlib
import re
import warnings
from pathlib import Path

HERE = Path(__file__).parent
RECORD = HERE / "imports.txt"
_NOT_LIBRARIES = {"torch", "functorch", "torchgen", "hotaru"}
# Files that read no such name are not parsed.
_INNER = re.compile(r"\btorch\b[^\n]*[\s.]_[a-zA-Z]")
_NOT_CODE = {"tests", "test", "docs", "doc", "examples", "benchmarks"}


def libraries(folders: list[Path]) -> dict[str, Path]:
    """Libraries by name: a package, a source with a project file, or those in
    a folder of such, as `site-packages`.
    """
    found: dict[str, Path] = {}
    for folder in folders:
        files = ("__init__.py", "pyproject.toml", "setup.py")
        own = any((folder / file).exists() for file in files)
        for each in [folder] if own else sorted(folder.iterdir()):
            if each.is_dir() and each.name not in _NOT_LIBRARIES:
                found[each.name.lower()] = each
    return found


def _is_inner(name: str) -> bool:
    return any(p.startswith("_") for p in re.split(r"[.:]", name)[1:])


class _Reader(ast.NodeVisitor):
    """Names of PyTorch that a file reads."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._modules: dict[str, str] = {}  # by what the file calls them

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.split(".")[0] != "torch":
                continue
            if alias.asname:
                self._modules[alias.asname] = alias.name
            else:
                self._modules["torch"] = "torch"
            if alias.name != "torch":
                self.names.add(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.split(".")[0] != "torch":
            return
        for alias in node.names:
            if alias.name == "*":
                self.names.add(module)
                continue
            self.names.add(f"{module}:{alias.name}")
            known = alias.asname or alias.name
            if alias.name[:1].islower() or alias.name.startswith("_"):
                self._modules[known] = f"{module}.{alias.name}"

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts, inside = [node.attr], node.value
        while isinstance(inside, ast.Attribute):
            parts.append(inside.attr)
            inside = inside.value
        if isinstance(inside, ast.Name) and inside.id in self._modules:
            chain = ".".join(reversed(parts))
            self.names.add(f"{self._modules[inside.id]}.{chain}")
        self.generic_visit(node)


def read_names(folder: Path) -> set[str]:
    """Names that a library's files read, without those of its tests."""
    found: set[str] = set()
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        if _NOT_CODE & set(inside.parts) or inside.name.startswith("test_"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if not _INNER.search(text):
            continue
        reader = _Reader()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        # Imports anywhere in a file say what its names mean.
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                reader.visit_Import(node)
            elif isinstance(node, ast.ImportFrom):
                reader.visit_ImportFrom(node)
        reader.visit(tree)
        found |= reader.names
    return found


def resolve(name: str) -> str:
    """How a name is there: "there", or "missing" and which part is.

    Attributes of what a function or an object gives are not asked for.
    """
    path, colon, inside = name.partition(":")
    parts = path.split(".")
    found = None
    for i, part in enumerate(parts):
        below = ".".join(parts[: i + 1])
        with contextlib.suppress(Exception):
            value = getattr(found, part) if i else importlib.import_module(part)
            found = value
            continue
        try:
            found = importlib.import_module(below)
            continue
        except Exception:
            kind = type(found)
            if kind.__name__ not in ("module", "type") and not hasattr(
                found, "__path__"
            ):
                return "there"  # of an object
            return f"missing {below}"
    if colon:
        with contextlib.suppress(Exception):
            module = importlib.import_module(path)
            if hasattr(module, inside):
                return "there"
            importlib.import_module(f"{path}.{inside}")
            return "there"
        return f"missing {path}:{inside}"
    return "there"


def recorded() -> dict[str, list[str]]:
    """The names of imports.txt with the libraries that read them."""
    if not RECORD.exists():
        return {}
    lines = RECORD.read_text().splitlines()
    return {
        name: users.split(",")
        for name, _, users in (line.partition("\t") for line in lines)
    }


def missing(names) -> list[str]:
    """Names that are not there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [name for name in sorted(names) if resolve(name) != "there"]


def report() -> list[str]:
    """Lines of the page about these names."""
    known = recorded()
    gone = missing(known)
    users = {user for each in known.values() for user in each}
    lines = [
        "",
        "## Names that libraries read",
        "",
        f"Of {len(known)} inner names (modules and functions behind an "
        f"underscore) that the sources of {len(users)} libraries read, "
        f"**{len(known) - len(gone)}** are here. They are found by "
        "`tests/conformance/names/imports.py`, and kept in `imports.txt`; some "
        "of the libraries ask whether a name is there and take another way.",
        "",
    ]
    by_module = collections.defaultdict(list)
    for name in gone:
        module, _, last = name.replace(":", ".").rpartition(".")
        by_module[module].append(f"{last} ({', '.join(known[name])})")
    lines += [
        f"- `{module}`: {', '.join(names)}"
        for module, names in sorted(by_module.items())
    ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="*", type=Path)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    from hotaru._alias import install

    install()
    known = recorded()
    if options.folder:
        found = collections.defaultdict(set)
        for library, folder in libraries(options.folder).items():
            for name in read_names(folder):
                if _is_inner(name):
                    found[name].add(library)
        known = {name: sorted(users) for name, users in sorted(found.items())}
    if options.record:
        lines = (f"{n}\t{','.join(users)}\n" for n, users in known.items())
        RECORD.write_text("".join(lines))
    gone = missing(known)
    for name in gone:
        print(f"{name}\t{','.join(known[name])}")
    print(f"{len(known) - len(gone)} / {len(known)} names are here")


if __name__ == "__main__":
    main()
