"""Checks of float modules that become quantised ones."""

from __future__ import annotations


def require_qconfig(mod) -> None:
    """AssertionError for a module that no qconfig was given."""
    if not hasattr(mod, "qconfig"):
        raise AssertionError("Input float module must have qconfig defined")
