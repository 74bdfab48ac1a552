"""Where operators, kernels and Python's functions are written."""

from __future__ import annotations

import functools
import inspect
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_SCHEMA = re.compile(r'HOTARU_\w+\(\s*"(\w+)')
_KERNEL = re.compile(r'HOTARU_KERNEL\w*\(\s*kCPU,\s*"([^"]+)"')
_QUOTED = re.compile(r'"([a-z]\w*)"')
_FORMULA = re.compile(r'X\("(\w+)", (\w+)')


def _texts(folder: str, *endings: str):
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in endings:
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


@functools.cache
def operators() -> dict[str, str]:
    """The source that registers each operator."""
    found: dict[str, str] = {}
    quoted: dict[str, str] = {}
    for name, text in _texts("hotaru/ops", ".cpp", ".h"):
        for operator in _SCHEMA.findall(text):
            found.setdefault(operator, name)
        for word in re.findall(r'"(\w+)(?:\.\w+)?\(Tensor', text):
            found.setdefault(word, name)
        for word in _QUOTED.findall(text):
            quoted.setdefault(word, name)
    return {**quoted, **found}


@functools.cache
def kernels() -> dict[str, str]:
    """The source of each kernel of the CPU, or of its formula."""
    found: dict[str, str] = {}
    formulas: dict[str, str] = {}
    structs: dict[str, str] = {}
    quoted: dict[str, str] = {}
    for name, text in _texts("hotaru/backend/common", ".h"):
        for kernel, struct in _FORMULA.findall(text):
            formulas.setdefault(kernel, struct)
        for struct in re.findall(r"^struct (\w+) ", text, re.M):
            structs.setdefault(struct, name)
        for struct in re.findall(r"^HOTARU_\w+\((\w+),", text, re.M):
            structs.setdefault(struct, name)
    for name, text in _texts("hotaru/backend/cpu", ".cpp", ".h"):
        for kernel in _KERNEL.findall(text):
            found.setdefault(kernel, name)
        for word in _QUOTED.findall(text):
            quoted.setdefault(word, name)
    for kernel, struct in formulas.items():
        if struct in structs:
            found.setdefault(kernel, structs[struct])
    return {**quoted, **found}


def of_python(value: Any) -> str | None:
    """The source of a function or class of the package."""
    if isinstance(value, property):
        value = value.fget
    try:
        found = inspect.getsourcefile(inspect.unwrap(value))
        if not found:
            return None
        path = Path(found).resolve()
        return path.relative_to(ROOT.resolve()).as_posix()
    except (TypeError, ValueError, OSError):
        return None


def grouped(names: list[str]) -> dict[str, list[str]]:
    """Kernels by the file they are in."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name in kernels():
            found[kernels()[name]].append(name)
    # Kernels that made the example's tensors say nothing of the operator.
    made = [path for path in found if "/create/" in path]
    if len(made) < len(found):
        for path in made:
            del found[path]
    return found
