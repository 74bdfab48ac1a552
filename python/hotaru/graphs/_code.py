"""What code says by the names in it."""

from __future__ import annotations

import dis
import types

_GRADIENTS = {"grad", "_grad"}
# Means to bind and to delete attributes whose name the code need not have.
_BINDERS = {
    "setattr", "delattr", "__setattr__", "__delattr__", "__set__", "__delete__",
}  # fmt: skip
_BINDING = ("STORE_ATTR", "DELETE_ATTR")


def names_of(code: types.CodeType) -> set[str]:
    """Names that code and what is defined in it use."""
    return {name for each in _parts(code) for name in each.co_names}


def texts_of(code: types.CodeType) -> set[str]:
    """Texts in code, which may be names (`hasattr(x, "name")`)."""
    return {
        constant
        for each in _parts(code)
        for constant in each.co_consts
        if isinstance(constant, str)
    }


def binds_gradients(reach) -> bool:
    """Whether code that was met may bind gradients of tensors, or take them
    away, without having looked at them.
    """
    return any(
        _binds_gradients(value.__code__)
        for _, value in reach.seen.values()
        if isinstance(value, types.FunctionType)
    )


def _binds_gradients(code: types.CodeType) -> bool:
    names = names_of(code)
    if names & _BINDERS:
        return True
    return not names.isdisjoint(_GRADIENTS) and any(
        step.opname in _BINDING and step.argval in _GRADIENTS
        for each in _parts(code)
        for step in dis.get_instructions(each)
    )


def _parts(code: types.CodeType):
    """Code and what is defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts(constant)
