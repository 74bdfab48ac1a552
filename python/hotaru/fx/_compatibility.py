"""Marks of what will stay as it is, for tools that ask."""

from __future__ import annotations

_BACK_COMPAT_OBJECTS: dict = {}
_MARKED_WITH_COMPATIBILITY: dict = {}


def compatibility(is_backward_compatible: bool):
    """Decorates a function or class: whether programs may count on it."""

    def mark(obj):
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(obj)
        _MARKED_WITH_COMPATIBILITY.setdefault(obj)
        return obj

    return mark
