"""Texts that Python raises."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Lines and texts of the errors that a module makes; values are {}."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Raise, ast.Return)):
            made = node.exc if isinstance(node, ast.Raise) else node.value
            if isinstance(made, ast.Call) and _is_error(node, made):
                for argument in made.args:
                    if text := _text(argument):
                        yield argument.lineno, text


def _is_error(node: ast.AST, made: ast.Call) -> bool:
    """Functions that give an error return one whose class says so."""
    return isinstance(node, ast.Raise) or ast.unparse(made.func).endswith(
        ("Error", "Exception")
    )


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            getattr(v, "value", 0) if isinstance(v, ast.Constant) else "{}"
            for v in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = _text(node.left), _text(node.right)
        if parts != (None, None):
            return "".join("{}" if part is None else part for part in parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return re.sub("%[srd]", "{}", _text(node.left) or "")
    return None
