"""Modules that come with Python."""

from __future__ import annotations

import sys


def is_stdlib_module(module: str) -> bool:
    """True if a module, or the package that it is in, is Python's own."""
    return module.partition(".")[0] in _get_stdlib_modules()


def _get_stdlib_modules() -> frozenset[str]:
    return sys.stdlib_module_names
