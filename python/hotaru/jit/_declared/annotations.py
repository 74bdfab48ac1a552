"""Annotations that a class itself declares, not its bases."""

from __future__ import annotations

import importlib
import sys


def own_annotations(cls: type) -> dict:
    """Name and annotation; names that are not defined yet stay references.

    From Python 3.14 on a class makes them when it is asked.
    """
    if sys.version_info < (3, 14):
        return vars(cls).get("__annotations__", {})
    library = importlib.import_module("annotationlib")
    return library.get_annotations(cls, format=library.Format.FORWARDREF)
