"""Which function writes which operator."""

from __future__ import annotations

import functools
import importlib
import inspect

from .values import NO_ROW, NotWritten

#: Base names of operators, "add", to functions of (writer, schema's
#: arguments by name).
ROWS: dict = {}
_FAMILIES = (
    "ops_pointwise",
    "ops_activation",
    "ops_shape",
    "ops_linear",
    "ops_conv",
    "ops_pool",
    "ops_resample",
    "ops_norm",
    "ops_reduce",
    "ops_index",
    "ops_rnn",
    "ops_create",
)


def row(*names: str):
    """The decorated function writes these operators, whatever their overload;
    those that end in `_` with the result in the place of `self`.
    """

    def add(function):
        for name in names:
            ROWS[name] = function
        return function

    return add


def _load() -> None:
    if not ROWS:
        for family in _FAMILIES:
            importlib.import_module(f"{__package__}.{family}")


def operators() -> list[str]:
    """Names of the operators that can be written, sorted."""
    _load()
    return sorted(ROWS)


@functools.cache
def find(name: str, arguments: tuple):
    """The function for an operator with those arguments, and whether its
    result takes the place of the first. NotWritten: there is none.
    """
    _load()
    space, _, base = name.partition("::")
    base = base.partition(".")[0]
    function, writes = ROWS.get(base), False
    if function is None and base.endswith("_"):
        function, writes = ROWS.get(base[:-1]), True
    if space != "aten" or function is None:
        raise NotWritten(NO_ROW)
    known = inspect.signature(function).parameters
    missing = [a for a in arguments if a not in known]
    if missing:
        raise NotWritten(f"the xla backend's row for it knows no {', '.join(missing)}")
    return function, writes
