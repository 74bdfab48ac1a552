"""Text of tensors that answer operators themselves."""

from __future__ import annotations


def filled(text: str, said: list[str], width: int = 80) -> str:
    """Appends `, part` to a text whose lines are at most that long, and the
    closing parenthesis.
    """
    for n, part in enumerate(said):
        line = len(text) - text.rfind("\n") - 1
        end = 1 if n == len(said) - 1 else 0
        first = part.split("\n")[0]
        fits = line + 2 + len(first) + end <= width
        text += ", " + part if fits else ",\n       " + part
    return text + ")"
