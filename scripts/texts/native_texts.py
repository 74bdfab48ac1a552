"""Texts that C++ throws."""

from __future__ import annotations

import re
from collections.abc import Iterator

# How many arguments come before the text; None: all that are no texts.
_MAKERS = {"HOTARU_CHECK": 1, "HOTARU_CHECK_AS": 2, "fail": 0}
_MADE = re.compile(
    r"\b(HOTARU_CHECK_AS|HOTARU_CHECK|fail\w*|refuse\w*|throw [\w:]+)"
    r"(?:<[\w:]+>)?\("
)
_TOKEN = re.compile(r"""(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|.""")
_LITERAL = re.compile(r'"((?:\\.|[^"\\])*)"')


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Lines and texts of the errors that a file makes; values are {}."""
    for made in _MADE.finditer(source):
        arguments = _arguments(source, made.end())
        before = _MAKERS.get(made[1])
        if before is None:
            before = next((i for i, a in enumerate(arguments) if a.startswith('"')), 0)
        text = "".join(map(_part, arguments[before:]))
        if text.strip("{}"):
            yield source.count("\n", 0, made.start()) + 1, text


def _part(argument: str) -> str:
    """Text of an argument: literals side by side, or a value."""
    if re.fullmatch(rf"(?:{_LITERAL.pattern}\s*)+", argument):
        return "".join(_LITERAL.findall(argument)).replace('\\"', '"')
    return "{}"


def _arguments(source: str, start: int) -> list[str]:
    """The arguments of a call whose bracket ends at `start`."""
    depth, found = 0, [""]
    for token in _TOKEN.finditer(source, start):
        text = token[0]
        if text.startswith(("//", "/*")):
            continue
        if text in "([{":
            depth += 1
        elif text in ")]}":
            depth -= 1
            if depth < 0:
                break
        if text == "," and depth == 0:
            found.append("")
        else:
            found[-1] += text
    return [argument.strip() for argument in found]
