"""The line of the user's program that an error is about."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path

_PACKAGE = str(Path(__file__).resolve().parents[1]) + "/"
REFUSED = "operation not permitted when stream is capturing"


def is_refusal(error: BaseException) -> bool:
    """True if the error says that something cannot be captured."""
    return isinstance(error, Exception) and REFUSED in str(error)


def add_line(error: BaseException, traceback) -> None:
    """Adds the innermost line outside of this package to such an error."""
    if not is_refusal(error) or getattr(error, "_has_line", False):
        return
    line = line_of(traceback)
    if not line:
        return
    error.args = (f"{error}\n  at {line}", *error.args[1:])
    error._has_line = True


def line_of(traceback) -> str:
    """The innermost line outside of this package, as text; "" for none."""
    found = None
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith(_PACKAGE):
            found = (name, traceback.tb_lineno)
        traceback = traceback.tb_next
    return "" if found is None else _text(*found)


def calling_line() -> str:
    """The same of whoever calls this package."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_PACKAGE):
            return _text(name, frame.f_lineno)
        frame = frame.f_back
    return ""


def user_level() -> int:
    """The `stacklevel` with which this function's caller names the innermost
    line outside of this package.
    """
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def _text(name: str, number: int) -> str:
    text = linecache.getline(name, number).strip()
    where = f'File "{name}", line {number}'
    return f"{where}: {text}" if text else where
