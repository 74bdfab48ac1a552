"""A few lines of a text with a part of it marked."""

from __future__ import annotations

_LINES = 3  # shown up to the part and from it, its own line counted in both


def excerpt(text: str, start: int, end: int) -> str:
    """The lines round text[start:end], and marks below what it has of each.

    An empty part is shown without marks.
    """
    first, last = start, end
    for _ in range(_LINES):
        first = text.rfind("\n", 0, first)
        if first < 0:
            break
    for _ in range(_LINES):
        last = text.find("\n", last)
        if last < 0:
            last = len(text)
            break
        last += 1
    out = []
    at = first + 1
    for line in text[at:last].split("\n"):
        out.append(line)
        left, right = max(start, at), min(end, at + len(line))
        if left < right:
            marks = " " * (left - at) + "~" * (right - left)
            out.append(f"{marks} <--- HERE")
        at += len(line) + 1
    return "\n".join(out).rstrip("\n") + "\n"
