"""Stacks of calls that are taken cheaply and written out later."""

from __future__ import annotations

import os.path
import sys
import traceback
import types

__all__ = [
    "CapturedTraceback",
    "format_frame",
    "format_traceback_short",
    "shorten_filename",
]


def shorten_filename(fn: str, *, base: str | None = None) -> str:
    """The path below the folder that it shares with `base`, by default the
    one that the package lies in.
    """
    if base is None:
        base = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    try:
        common = os.path.commonpath([base, fn])
    except ValueError:
        return fn
    return fn[len(common) + 1 :]


def format_frame(
    frame: traceback.FrameSummary, *, base: str | None = None, line=False
) -> str:
    """A frame as "file.py:12 in name"; with `line`, behind its source."""
    source = f"{frame.line}  # " if line else ""
    name = shorten_filename(frame.filename, base=base)
    return f"{source}{name}:{frame.lineno} in {frame.name}"


def format_traceback_short(tb: types.TracebackType) -> str:
    """`format_frame` of the innermost frame."""
    return format_frame(traceback.extract_tb(tb)[-1])


class CapturedTraceback:
    """The calls that led to a place; made by `extract`.

    It holds code and lines, no frames: no local variable lives longer for it.
    It is pickled without them.
    """

    __slots__ = ["skip", "tb"]

    def __init__(self, tb, skip: int = 0) -> None:
        self.tb = tb
        self.skip = skip

    @staticmethod
    def extract(
        *, script: bool = False, cpp: bool = False, skip: int = 0
    ) -> CapturedTraceback:
        """The calls of this thread, without the innermost `skip`.

        NotImplementedError for those of C++; those of TorchScript stand among
        the ones of Python.
        """
        if cpp:
            raise NotImplementedError(
                "CapturedTraceback.extract: hotaru has no stacks of C++; leave "
                "cpp=True out"
            )
        calls = []
        frame = sys._getframe(1)
        while frame is not None:
            calls.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        return CapturedTraceback(calls, skip)

    def cleanup(self) -> None:
        """Forgets the calls."""
        self.tb = None

    def summary(self) -> traceback.StackSummary:
        """The calls, outermost first, with their source."""
        found = traceback.StackSummary()
        for code, line in reversed((self.tb or [])[self.skip :]):
            found.append(traceback.FrameSummary(code.co_filename, line, code.co_name))
        return found

    def format(self) -> list[str]:
        """The text of each call."""
        return traceback.format_list(self.summary())

    @staticmethod
    def format_all(tbs) -> list[list[str]]:
        """`format` of each."""
        return [tb.format() for tb in tbs]

    def __getstate__(self):
        return None, {"tb": None, "skip": self.skip}
