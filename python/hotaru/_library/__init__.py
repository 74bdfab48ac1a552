"""Operators that users define, in Python: see `hotaru.library`.

Importing this package imports none of its parts.
"""

from __future__ import annotations

from .._own_names import part

_PARTS = {
    "autograd",
    "custom_ops",
    "fake_impl",
    "infer_schema",
    "opcheck",
    "simple_registry",
    "utils",
}


def __getattr__(name: str):
    return part(__name__, name, _PARTS)
