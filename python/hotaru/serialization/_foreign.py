"""Pickles by another module's Pickler (dill, cloudpickle), renamed afterwards.

Such a pickler writes names of this library as Python knows them. Up to protocol
3 a name stands in an instruction of its own, which is written anew by the name
that files know; from 4 on names are strings like any other, and stay.
"""

from __future__ import annotations

import pickle
import pickletools
import sys

from .._own_names import is_own
from ._names import written


def renamed(text: bytes) -> bytes:
    """A pickle whose globals go by the names that PyTorch's have."""
    parts, done = [], 0
    for op, argument, start in pickletools.genops(text):
        if done is None:  # the end of a name that is written anew
            done = start
        if op.name != "GLOBAL":
            continue
        line = _line(*argument.split(" ", 1))
        if line is not None:
            parts += (text[done:start], line)
            done = None
    return b"".join(parts) + text[done:]


def _line(module: str, name: str) -> bytes | None:
    if not is_own(module):
        return None
    try:
        found = getattr(sys.modules[module], name)
        module, name = written(found, name)
    except (KeyError, AttributeError, pickle.PicklingError):
        return None
    return pickle.GLOBAL + f"{module}\n{name}\n".encode()
