"""Types of the attributes that modules have without an annotation."""

from __future__ import annotations

from .. import _C
from .._own_names import is_own
from ._scripter import _UNIT, SCRIPTER


def type_of(value):
    """The type of a value; None for empty containers, which don't tell."""
    if isinstance(value, (list, dict)) and not value:
        return None
    return _UNIT.type_of(value)


def class_of(value):
    """The type of an object whose class can be compiled, or of a list, tuple or
    dict of such; else None.
    """
    try:
        if type(value) in (list, tuple, dict):
            return SCRIPTER.type_of_annotation(_annotation_of(value))
        if _is_plain_class(type(value)):
            return SCRIPTER.class_type(type(value))
    except (OSError, RuntimeError, TypeError, ValueError):
        pass
    return None


def _is_plain_class(cls: type) -> bool:
    return cls.__module__ != "builtins" and not is_own(cls.__module__)


def _annotation_of(value):
    """The type that a program would write; TypeError where there is none."""
    if type(value) is tuple and value:
        return tuple[tuple(map(_annotation_of, value))]
    if type(value) in (list, dict) and value:
        parts = [value] if type(value) is list else [value, value.values()]
        kinds = []
        for part in parts:
            found = [_annotation_of(item) for item in part]
            if any(one != found[0] for one in found):
                raise TypeError("elements of several types")
            kinds.append(found[0])
        return (type(value))[tuple(kinds)]
    if isinstance(value, _C.Tensor):
        return _C.Tensor
    if type(value) in (bool, int, float, complex, str):
        return type(value)
    if not _is_plain_class(type(value)):
        raise TypeError(f"objects of type {type(value).__name__} have no type")
    SCRIPTER.class_type(type(value))
    return type(value)
