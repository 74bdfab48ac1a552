"""The rules of Python's files.

Packages of python/hotaru have an order (`python_order`), files import each
other in no circle, also within functions, and texts name modules in
`_late.py` alone, whose rows are true and asked for. Functions are short, and
no line is kept from the formatter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from layers.circles import circles
from layers.python_imports import Import, Imports, Module, parsed, read_modules
from layers.python_order import PACKAGES

LONGEST_FUNCTION = 80
# TorchScript, in which each function is one of ONNX's operators.
_NO_PYTHON = "hotaru/exchange/onnx/texts/"
LENDER = "_late"
_KEPT = re.compile(r"#\s*(?:fmt|yapf): *(?:skip|off|disable)\b")


@dataclass
class Package:
    """The files of a package, and what they import of each other."""

    root: str
    modules: dict[str, Module]
    imports: dict[str, list[Import]]

    def graph(self) -> dict[str, dict[str, None]]:
        """Imports of each file, but for packages that it lies in."""
        return {
            name: dict.fromkeys(
                one.target for one in imports if not name.startswith(f"{one.target}.")
            )
            for name, imports in self.imports.items()
        }


def read_package(files: list[str], source: str, root: str) -> Package:
    """The package `root` in a folder of sources."""
    modules = read_modules(files, source)
    modules = {n: m for n, m in modules.items() if n.split(".")[0] == root}
    names = Imports(modules)
    imports = {
        name: [i for i in dict.fromkeys(names.of(module)) if i.target != name]
        for name, module in modules.items()
    }
    return Package(root, modules, imports)


def python_offences(
    files: list[str],
    source: str = "python",
    root: str = "hotaru",
    order: tuple[str, ...] = PACKAGES,
) -> list[str]:
    """Offences in the package, and in Python's files outside of it."""
    package = read_package(files, source, root)
    try:
        found = upward(package, order)
    except ValueError as error:
        return [str(error)]
    found += in_circles(package) + named_in_texts(package)
    found += wrong_rows(package, order)
    return found + long_functions(files) + kept_lines(files)


def rank(name: str, order: tuple[str, ...]) -> int:
    """A module's place in the order; the package itself comes last.

    Raises ValueError for a module that the order does not have.
    """
    parts = name.split(".")[1:]
    if not parts:
        return len(order)
    for end in range(len(parts), 0, -1):
        entry = ".".join(parts[:end])
        if entry in order:
            return order.index(entry)
    raise ValueError(
        f"{name}: not in the order of packages (scripts/layers/python_order.py)"
    )


def upward(package: Package, order: tuple[str, ...]) -> list[str]:
    """Imports of what comes later in the order."""
    places = {name: rank(name, order) for name in package.modules}
    unknown = [
        f"scripts/layers/python_order.py:1: there is no {entry}"
        for entry in order
        if f"{package.root}.{entry}" not in package.modules
    ]
    return unknown + [
        f"{package.modules[name].file}:{one.line}: imports {one.target}, "
        "which stands above; see _late.py"
        for name, imports in package.imports.items()
        for one in imports
        if places[one.target] > places[name]
    ]


def in_circles(package: Package) -> list[str]:
    """Files that import each other. A package that a file lies in is not
    counted: its names come from the files that make them.
    """
    return [
        f"{package.modules[circle[0]].file}:1: circle {' -> '.join(circle)}"
        for circle in circles(package.graph())
    ]


def named_in_texts(package: Package) -> list[str]:
    """Modules of the package that are looked for by a text."""
    return [
        f"{module.file}:{line}: {text!r} is imported by a text; see _late.py"
        for name, module in package.modules.items()
        if name != f"{package.root}.{LENDER}"
        for line, text in _texts(module, package)
    ]


# The first argument of these is a module's name.
_IMPORTERS = {"import_module", "__import__", "find_spec", "_late"}


def _texts(module: Module, package: Package) -> Iterator[tuple[int, str]]:
    """Texts by which a file finds a module that is not below its own."""
    for node, _ in module.nodes:
        if isinstance(node, ast.Call) and node.args:
            called = node.func
            name = getattr(called, "attr", getattr(called, "id", ""))
            if name not in _IMPORTERS and not (
                name == "get" and _is_modules(getattr(called, "value", None))
            ):
                continue
            text = _module_text(node.args[0], module)
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and _is_modules(node.value)
        ):
            text = _module_text(node.slice, module)
        else:
            continue
        first, _, rest = text.partition(".")
        if first == package.root and rest != LENDER:
            own = module.package if "." in module.package else module.name
            if not f"{text}.".startswith(f"{own}.") and text != module.name:
                yield node.lineno, text
        elif text.startswith(".."):
            yield node.lineno, text


def _is_modules(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "modules"


def _module_text(node: ast.expr, module: Module) -> str:
    """A module's name as far as it is written: "hotaru.nn" or "..nn", and so
    for one that begins with a constant of the file ("{_HOME}.nn").
    """
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = ""
    for part in parts:
        value = getattr(part, "value", part)
        if isinstance(value, str):
            text += value
        elif text or not isinstance(value, ast.Name):
            text += "{}"
        else:
            text = _constants(module).get(value.id, "{}")
    return text


def _constants(module: Module) -> dict[str, str]:
    """Maps names of a file to what they stand for; one that is not written as
    a text is taken for the package's name.
    """
    known = {"__name__": module.name, "__package__": module.package}
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = getattr(node.value, "value", None)
            root = module.name.partition(".")[0]
            known[node.targets[0].id] = value if type(value) is str else root
    return known


def wrong_rows(package: Package, order: tuple[str, ...]) -> list[str]:
    """Rows of what is lent that name nothing, that nobody asks for, or that
    somebody asks for who could import it: the module stands below, and does
    not need who asks.
    """
    lender = package.modules.get(f"{package.root}.{LENDER}")
    if lender is None:
        return []
    rows = _rows(lender)
    askers: dict[str, list[str]] = {name: [] for name, _, _ in rows}
    looked_for: set[str] = set()
    found = []
    for module in package.modules.values():
        for line, name, loads in _asked(module):
            if name in askers and loads:
                askers[name].append(module.name)
            elif name in askers:
                looked_for.add(name)
            else:
                found.append(f"{module.file}:{line}: nobody lends {name!r}")
    methods, graph = _named(package), package.graph()
    for name, value, line in rows:
        place = f"{lender.file}:{line}: {name!r}"
        module, _, inside = value.partition(":")
        module = f"{package.root}.{module}"
        if module not in package.modules or not _has(package, module, inside):
            found.append(f"{place} is not in {value}")
            continue
        if not askers[name] and name not in methods | looked_for:
            found.append(f"{place} is lent to nobody")
        needs = _reached(graph, module)
        found += [
            f"{place} could be imported by {asker}"
            for asker in askers[name]
            if rank(asker, order) >= rank(module, order) and asker not in needs
        ]
    return found


def _reached(graph: dict[str, dict], start: str) -> set[str]:
    """Modules that a module needs, directly or by others, and itself."""
    reached, pending = {start}, [start]
    while pending:
        for target in graph[pending.pop()]:
            if target not in reached:
                reached.add(target)
                pending.append(target)
    return reached


def _rows(lender: Module) -> list[tuple[str, str, int]]:
    for node in lender.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            return [
                (key.value, ast.literal_eval(value), key.lineno)
                for key, value in zip(node.value.keys, node.value.values)
            ]
    return []


def _calls(module: Module) -> Iterator[ast.Call]:
    """The calls that ask for what is lent."""
    for node, _ in module.nodes:
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", "") in ("lent", "loaded")
            and node.args
        ):
            yield node


def _asked(module: Module) -> Iterator[tuple[int, str, bool]]:
    """Where and what a file asks for, and whether that loads it."""
    for call in _calls(module):
        if isinstance(call.args[0], ast.Constant):
            yield call.lineno, call.args[0].value, call.func.id == "lent"


def _named(package: Package) -> set[str]:
    """Words in the texts of files that ask by names out of a table, and of
    those that have the extension ask.
    """
    words: set[str] = set()
    for module in package.modules.values():
        by_table = any(
            not isinstance(call.args[0], ast.Constant) for call in _calls(module)
        )
        texts = [
            node.value
            for node, _ in module.nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        if by_table or f"{package.root}.{LENDER}" in texts:
            words.update(word for text in texts for word in text.split())
    return words


def _has(package: Package, module: str, name: str) -> bool:
    """True if a name stands in a module: as a text, where it is made late."""
    if not name:
        return True
    for node, _ in package.modules[module].nodes:
        if name in (
            getattr(node, "name", None),
            getattr(node, "id", None),
            getattr(node, "asname", None),
        ):
            return True
        texts = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if texts and name in node.value.split():
            return True
    return False


def _lines_of_text(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How long the text is that says what a function does."""
    if ast.get_docstring(function, clean=False) is None:
        return 0
    return function.body[0].end_lineno - function.body[0].lineno + 1


def long_functions(files: list[str]) -> list[str]:
    """Functions of more lines than a reader takes in, beside their texts."""
    found = []
    for file in files:
        if file.startswith(_NO_PYTHON):
            continue
        for node in ast.walk(parsed(file)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = node.end_lineno - node.lineno + 1 - _lines_of_text(node)
                if lines > LONGEST_FUNCTION:
                    found.append(
                        f"{file}:{node.lineno}: {node.name} has {lines} "
                        f"lines; a function has {LONGEST_FUNCTION} at most"
                    )
    return found


def kept_lines(files: list[str]) -> list[str]:
    """Lines that the formatter is told to leave as they are."""
    return [
        f"{file}:{number}: kept from the formatter; write it as ruff does"
        for file in files
        for number, line in enumerate(Path(file).read_text("utf-8").split("\n"), 1)
        if _KEPT.search(line)
    ]
