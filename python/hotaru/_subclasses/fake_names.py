"""Operators by what they do with devices."""

from __future__ import annotations

import functools

from .._operators import questions
from .._ops import aten


@functools.cache
def overloads() -> tuple:
    """All of hotaru's own operators."""
    found = []
    for schema in questions.all_schemas():
        space, _, name = schema.name.partition("::")
        if space == "aten" and hasattr(aten, name):
            packet = getattr(aten, name)
            found.append(getattr(packet, schema.overload_name or "default"))
    return tuple(found)


def is_tensor_constructor(func) -> bool:
    """True if it makes one tensor, of no tensor."""
    schema = func._schema
    if any("Tensor" in str(argument.type) for argument in schema.arguments):
        return False
    return [str(x.type) for x in schema.returns] == ["Tensor"]


@functools.cache
def like_tensor_constructors() -> frozenset:
    """Overloads that make a tensor like another."""
    return frozenset(func for func in overloads() if func._opname.endswith("_like"))


@functools.cache
def device_not_kwarg_ops() -> frozenset:
    """Overloads that can be told a device by position."""
    return frozenset(
        func
        for func in overloads()
        if any(
            "Device" in str(argument.type) and not argument.kwarg_only
            for argument in func._schema.arguments
        )
    )
