"""Files of the package import each other in one direction only.

Imports within functions count, too. What a file takes from the packages that
it lies in (`from .. import Tensor`) does not: those are the names of the
extension, which are there before anything else is.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3] / "python"


def _modules() -> dict[str, Path]:
    found = {}
    for path in (ROOT / "hotaru").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def _imported(name: str, path: Path, known: dict) -> set[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: 1 - node.level or None]
            above = parts if node.level else []
            home = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{home}.{alias.name}"
                found.add(inner if inner in known else home)
    return {
        other
        for other in found & known.keys()
        if other != name and not name.startswith(other + ".")
    }


def test_no_file_imports_what_imports_it():
    known = _modules()
    assert len(known) > 100
    graph = {name: _imported(name, path, known) for name, path in known.items()}
    assert "hotaru.nn.parameter" in graph["hotaru.nn.modules.module"]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None
