"""Analyses and changes of graphs."""

from __future__ import annotations

_MODULES = {"infra", "shape_prop", "split_module", "utils"}


def __getattr__(name: str):
    if name in _MODULES:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
