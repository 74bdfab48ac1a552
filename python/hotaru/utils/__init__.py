"""Helpers that are not tensors: hooks, data loading, exchange of memory."""

from __future__ import annotations

_LAZY = {"_pytree", "data", "dlpack", "hooks"}


def __getattr__(name: str):
    if name in _LAZY:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
