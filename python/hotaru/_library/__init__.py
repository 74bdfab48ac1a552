"""Operators that users define, in Python: see `hotaru.library`.

Importing this package imports none of its parts.
"""

from __future__ import annotations

import importlib

_PARTS = {
    "autograd", "custom_ops", "fake_impl", "infer_schema", "opcheck",
    "simple_registry", "utils",
}  # fmt: skip


def __getattr__(name: str):
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
