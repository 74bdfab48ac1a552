"""Containers of the type of another one."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence


def like_mapping(model: Mapping, values: dict):
    """`values` in a mapping of `model`'s type, or in a dict if that fails."""
    if type(model) is dict:
        return values
    try:
        if isinstance(model, MutableMapping):
            clone = copy.copy(model)  # it may have further attributes
            clone.update(values)
            return clone
        return type(model)(values)
    except TypeError:
        return values


def like_sequence(model: Sequence, values: list):
    """`values` in a sequence of `model`'s type, or in a list if that fails."""
    if type(model) is list:
        return values
    try:
        if isinstance(model, MutableSequence):
            clone = copy.copy(model)
            for i, value in enumerate(values):
                clone[i] = value
            return clone
        return type(model)(values)
    except TypeError:
        return values


def is_named_tuple(value) -> bool:
    """Tells whether its type was made by `namedtuple`."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_sequence(value) -> bool:
    """Tells whether it is a sequence other than text."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
