"""Comparing what a page shows with what was printed."""

from __future__ import annotations

import ast
import io
import re
import tokenize

NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
# Comments that show a value: `x.sum()  # tensor(3.)`.
VALUE = re.compile(r"tensor\(|torch\.|\[|\(|\{|'|\"|-?\d|True\b|False\b|None\b|<")


def plain(text: str, numbers_vary: bool) -> str:
    """Text without ends of lines and, if numbers vary, without these."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    if numbers_vary:
        lines = [NUMBER.sub("#", line) for line in lines]
        lines = [re.sub(r"\s+", " ", re.sub(r"-{2,}", "--", line)) for line in lines]
    return "\n".join(lines).strip()


def agrees(shown: str, printed: str, numbers_vary: bool = False) -> bool:
    """True if a page shows what was printed; `...` and `…` stand for anything."""
    wanted = plain(shown, numbers_vary)
    pattern = ".*?".join(map(re.escape, re.split(r"\.\.\.|…", wanted)))
    return bool(re.fullmatch(pattern, plain(printed, numbers_vary), re.S))


def comments(source: str) -> dict[int, str]:
    """Comments by the line that they end."""
    readable = io.StringIO(source).readline
    return {
        token.start[0]: token.string.lstrip("# ").rstrip()
        for token in tokenize.generate_tokens(readable)
        if token.type == tokenize.COMMENT
    }


def value_shown(node: ast.stmt, notes: dict[int, str]) -> str | None:
    """The value or output that a comment behind an expression shows."""
    if not isinstance(node, ast.Expr) or node.lineno != node.end_lineno:
        return None
    note = notes.get(node.lineno, "")
    if note.startswith("prints "):
        return note.removeprefix("prints ")
    return note if VALUE.match(note) else None


def is_shown(note: str, made: list[str]) -> bool:
    """True if a comment is one of these texts, or goes on after it."""
    return any(
        agrees(note, text)
        or (text and note.startswith(text) and not note[len(text)].isalnum())
        for text in made
    )
