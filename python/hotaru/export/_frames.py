"""Where in the program a call is."""

from __future__ import annotations

import linecache
import os
import sys

__all__ = ["frames", "script_places", "stack_text", "user_frame"]

#: Lines of compiled programs that are being followed, inmost last; None where
#: a line is not known.
script_places: list[tuple[str, int, str] | None] = []

_OWN = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.dirname(_OWN)
# The machinery between the program and the trace.
_HIDDEN = tuple(
    os.path.join(_PACKAGE, part)
    for part in (
        "export",
        "_dispatch",
        "fx",
        "_ops.py",
        "_functions",
        "utils",
        "_subclasses",
        os.path.join("nn", "modules", "module.py"),
        os.path.join("nn", "modules", "_call"),
        os.path.join("nn", "modules", "_aspects"),
        os.path.join("nn", "functional"),
        "functional.py",
        "_library",
        "_tensor",
        "_extension",
        "overrides.py",
        "_functorch",
    )
)


def frames() -> list[tuple[str, int, str]]:
    """File, line and function of each call of the program's, inmost last."""
    found = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if code.co_name == "_export_runs" and name.startswith(_OWN):
            compiled = [p for p in script_places[-1:] if p is not None]
            return found[::-1] + compiled
        if not name.startswith(_HIDDEN) and not name.startswith("<"):
            found.append((name, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return []  # after the program


def user_frame():
    """The frame of the inmost call of the program's; None outside of one."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_OWN) and frame.f_code.co_name == "_export_runs":
            return None
        if not name.startswith(_HIDDEN) and not name.startswith("<"):
            return frame
        frame = frame.f_back
    return None


def stack_text(found: list) -> str:
    """As tracebacks show it."""
    return "\n".join(
        f'  File "{name}", line {line}, in {function}\n'
        f"    {linecache.getline(name, line).strip()}"
        for name, line, function in found
    ).strip()
