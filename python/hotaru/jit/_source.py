"""Source text of Python functions, as the compiler takes it."""

from __future__ import annotations

import ast
import inspect
import re
from typing import NamedTuple

from ._packaged import module_of


class SourceText(NamedTuple):
    """A function's own lines: `line` is the number of the first in `file`."""

    text: str
    file: str
    line: int
    indent: int = 0  # what was cut from the left


def source_of(function) -> SourceText:
    """The text of a function, without its indentation.

    Raises:
        OSError: there is none, as in an interactive session.
    """
    try:
        lines, line = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<unknown>"
    except (OSError, TypeError) as error:
        raise OSError(
            f"Can't get source for {function}. "
            "TorchScript requires source access in order to carry out "
            "compilation, make sure original .py files are available."
        ) from error
    indent = len(lines[0]) - len(lines[0].lstrip())
    return SourceText("".join(_dedented(lines)), file, max(line, 1), indent)


def with_signature(function, header: str, declared) -> SourceText:
    """The text of a function behind another header, `def f(...) -> T:`.

    `declared` has the signature, as a comment if its header says no types.
    """
    source = source_of(function)
    first = ast.parse(source.text).body[0].body[0]
    lines = source.text.splitlines(keepends=True)[first.lineno - 1 :]
    encoded = lines[0].encode()
    indent = first.col_offset
    if encoded[:indent].strip():  # all in one line
        lines[0] = " " * 4 + encoded[indent:].decode()
        indent = 4
    comment = type_comment(declared)
    if comment and not declared.__annotations__:
        header += f"{' ' * indent}# type: {comment[0]}\n"
    line = source.line + first.lineno - 1 - header.count("\n")
    return SourceText(header + "".join(lines), source.file, max(line, 1))


_SIGNATURE = re.compile(r"^\s*#\s*type:\s*(\(.*\)\s*->\s*(.+?))\s*$", re.M)


def type_comment(function) -> tuple[str, str] | None:
    """A signature like `# type: (int) -> str`: all of it, and the result."""
    try:
        found = _SIGNATURE.search(source_of(function).text)
    except OSError:
        return None
    return (found[1], found[2]) if found else None


_MISSPELT = re.compile(r"#[\t ]*type[\t ]*(?!: ignore(\[.*\])?$):")


def check_type_comments(text: str) -> None:
    """RuntimeError for a signature's comment that begins otherwise than
    `# type:`, if no comment does.
    """
    if "type" not in text or "# type:" in text:
        return
    for number, line in enumerate(text.split("\n")):
        if _MISSPELT.search(line):
            raise RuntimeError(
                f"The annotation prefix in line {number} is probably invalid.\nIt "
                "must be '# type:'\nSee PEP 484 "
                "(https://www.python.org/dev/peps/pep-0484/#suggested-syntax-for-"
                "python-2-7-and-straddling-code)\nfor examples"
            )


def left_aligned(text: str) -> SourceText:
    """The text as far left as its first line that is not empty."""
    lines = text.splitlines(keepends=True)
    line = 1
    while lines and not lines[0].strip():
        lines.pop(0)
        line += 1
    if not lines:
        return SourceText("", "<string>", 1)
    indent = len(lines[0]) - len(lines[0].lstrip())
    return SourceText("".join(_dedented(lines)), "<string>", line, indent)


def _dedented(lines: list[str]) -> list[str]:
    """The lines as far left as the first; less indented ones stay."""
    first = lines[0]
    indent = first[: len(first) - len(first.lstrip())]
    return [line.removeprefix(indent) for line in lines]


def surroundings(function) -> dict:
    """The names that a function's body sees, closures before globals."""
    names = dict(function.__globals__)
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            names.pop(name, None)
    return names


def named(path: str, names: dict):
    """Finds what a name with dots stands for, or None."""
    first, *rest = path.split(".")
    value = names.get(first)
    for part in rest:
        value = getattr(value, part, None)
    return value


def defaults_of(function) -> dict:
    """Values of the parameters that have a default, by name."""
    parameters = inspect.signature(function).parameters.values()
    return {
        p.name: p.default
        for p in parameters
        if p.default is not inspect.Parameter.empty
    }


def module_names(cls: type) -> dict:
    """The globals of the module that a class was written in."""
    module = module_of(cls.__module__)
    if module is not None:
        return vars(module)
    methods = filter(inspect.isfunction, vars(cls).values())
    return next((method.__globals__ for method in methods), {})


class _Asked(dict):
    """Names that a function explains, where it does."""

    def __init__(self, ask) -> None:
        super().__init__()
        self._ask = ask

    def __contains__(self, name) -> bool:
        return self._ask(name) is not None

    def __getitem__(self, name):
        return self._ask(name)


def frame_names(frame, rcb=None) -> dict:
    """The names that code in a frame sees, or those that `rcb` explains."""
    if rcb is not None:
        return _Asked(rcb)
    return {**frame.f_globals, **frame.f_locals}
