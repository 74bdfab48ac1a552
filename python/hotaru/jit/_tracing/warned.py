"""Warnings of `trace` while the function runs."""

from __future__ import annotations

import os
import sys
import warnings

from ... import _C

_PACKAGE = os.path.dirname(_C.__file__) + os.sep
LENGTH = (
    "Using len to get tensor shape might cause the trace to be incorrect. "
    "Recommended usage would be tensor.shape[0]. Passing a tensor of different "
    "shape might lead to errors or silently give incorrect results."
)
ITERATION = (
    "Iterating over a tensor might cause the trace to be incorrect. Passing a "
    "tensor of different shape won't change the number of iterations executed "
    "(and might lead to errors or silently give incorrect results)."
)
CONSTANTS = (
    "torch.tensor results are registered as constants in the trace. You can "
    "safely ignore this warning if you use this function to create tensors out "
    "of constant variables that would be the same every time you call this "
    "function. In any other case, this might cause the trace to be incorrect."
)


# Files whose functions hand on what the program called.
HANDED_ON: set = set()


class TracerWarning(Warning):
    """The program may give something else for other inputs."""


def frozen(what: str) -> None:
    warn(
        f"Converting {what} might cause the trace to be incorrect. The value "
        "becomes a constant of the program, so the trace might not generalize "
        "to other inputs."
    )


def warn(text: str) -> None:
    """A warning at the line of the program that is traced."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_own(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, TracerWarning, stacklevel=level)


def _is_own(frame) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)


def called_by_program() -> bool:
    """True if the method that asks was called by the program that is traced.

    The package's own functions look at sizes, too: what they decide by them
    is not the program's to mend.
    """
    frame = sys._getframe(2)
    while frame.f_code.co_filename in HANDED_ON and frame.f_back is not None:
        frame = frame.f_back
    return not _is_own(frame)
