"""The line of the user's program that an error is about."""

from __future__ import annotations

import linecache
from pathlib import Path

_PACKAGE = str(Path(__file__).resolve().parents[1]) + "/"
REFUSED = "operation not permitted when stream is capturing"


def is_refusal(error: BaseException) -> bool:
    """Whether the error says that something cannot be captured."""
    return isinstance(error, Exception) and REFUSED in str(error)


def add_line(error: BaseException, traceback) -> None:
    """Adds the innermost line outside of this package to such an error."""
    if not is_refusal(error) or getattr(error, "_has_line", False):
        return
    found = None
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith(_PACKAGE):
            found = (name, traceback.tb_lineno)
        traceback = traceback.tb_next
    if found is None:
        return
    text = linecache.getline(*found).strip()
    where = f'{error}\n  at File "{found[0]}", line {found[1]}'
    error.args = (f"{where}: {text}" if text else where, *error.args[1:])
    error._has_line = True
