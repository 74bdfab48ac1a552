"""The modules that a call uses, seen by watching it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

__all__ = ["trace_dependencies"]


def trace_dependencies(callable: Callable, inputs: Iterable[tuple]) -> list[str]:
    """The names of the modules whose functions run.

    Args:
        callable: called with each of the inputs.
        inputs: tuples of arguments.

    Watches the thread that calls, in place of another profiler.
    """
    used: set[str] = set()

    def watch(frame, event: str, _argument) -> None:
        if event == "call":
            module = _module_of(frame)
            if module:
                used.add(module)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        for arguments in inputs:
            callable(*arguments)
    finally:
        sys.setprofile(before)
    return list(used)


def _module_of(frame) -> str | None:
    """The module of the function that a frame runs, found by its name."""
    name = frame.f_code.co_name
    for names in (frame.f_globals, frame.f_locals):
        if name in names:
            return getattr(names[name], "__module__", None)
    if "self" not in frame.f_locals:
        return None
    method = getattr(frame.f_locals["self"], name, None)
    return getattr(method, "__module__", None)
