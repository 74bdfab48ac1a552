"""Comparisons that tell whether one schema can stand for another."""

from __future__ import annotations

from typing import Protocol

from .._types import DictType, ListType
from .argument import Argument


class Signature(Protocol):
    """Parts of a schema that are compared."""

    name: str
    overload_name: str
    arguments: list[Argument]
    returns: list[Argument]
    is_vararg: bool
    is_varret: bool


_CONTAINER = (
    "Function schema is not forward compatible since the new argument '{}' of "
    "type {} has a container type as its default value."
)
_NO_DEFAULT = (
    "Function schema is not forward compatible since the new argument '{}' of "
    "type {} did not provide a default value."
)
_NOT_FORWARD = "'{}' is not forward compatible with the older version of the schema"
# PyTorch's quotes.
_OUT = "Out argument ''{} is not FC with the older version of the schema"
_OUT_COUNT = "Function schema should have the same number of out arguments"


def _alike(new: Argument, old: Argument) -> bool:
    """True if one argument has what both directions ask, its type apart."""
    return (
        new.name == old.name
        and new.N == old.N
        and new.alias_info == old.alias_info
        and not (new.kwarg_only and not old.kwarg_only)
    )


def _default_of(argument: Argument):
    return argument.has_default_value(), argument.default_value


def _accepts(new: Argument, old: Argument) -> bool:
    """True if `new` takes what `old` took."""
    if old.has_default_value() and _default_of(new) != _default_of(old):
        return False
    return _alike(new, old) and old.type.isSubtypeOf(new.type)


def _same(new: Argument, old: Argument) -> bool:
    """True if `old` takes what `new` takes."""
    return (
        _alike(new, old)
        and _default_of(new) == _default_of(old)
        and new.type.isSubtypeOf(old.type)
    )


def _first_out(schema: Signature) -> int:
    for i, argument in enumerate(schema.arguments):
        if argument.is_out:
            return i
    return len(schema.arguments)


def _same_kind(new: Signature, old: Signature) -> bool:
    return (
        new.name == old.name
        and new.overload_name == old.overload_name
        and new.is_vararg == old.is_vararg
        and new.is_varret == old.is_varret
        and len(new.returns) == len(old.returns)
    )


def backward(new: Signature, old: Signature) -> bool:
    """True if what was written for `old` works with `new`."""
    if not _same_kind(new, old) or len(new.arguments) < len(old.arguments):
        return False
    if not all(map(_accepts, old.returns, new.returns)):
        return False
    mine, theirs = _first_out(new), _first_out(old)
    if mine < theirs:
        return False
    if not all(map(_accepts, new.arguments[:theirs], old.arguments[:theirs])):
        return False
    if not all(a.has_default_value() for a in new.arguments[theirs:mine]):
        return False
    outs, old_outs = new.arguments[mine:], old.arguments[theirs:]
    return len(outs) >= len(old_outs) and all(map(_accepts, outs, old_outs))


def forward(new: Signature, old: Signature) -> tuple[bool, str]:
    """True if what is written for `new` works with `old`; else why not."""
    if not _same_kind(new, old):
        return False, ""
    mine, theirs = _first_out(new), _first_out(old)
    if len(new.arguments) - mine != len(old.arguments) - theirs:
        return False, _OUT_COUNT
    both = min(mine, theirs)
    for a, b in zip(new.arguments[:both], old.arguments[:both]):
        if not _same(a, b):
            return False, _NOT_FORWARD.format(a.name)
    for a in new.arguments[both:mine]:
        if not a.has_default_value():
            return False, _NO_DEFAULT.format(a.name, a.type.str())
        if isinstance(a.type, (ListType, DictType)):
            return False, _CONTAINER.format(a.name, a.type.str())
    for a, b in zip(new.arguments[mine:], old.arguments[theirs:]):
        if not _same(a, b):
            return False, _OUT.format(a.name)
    return True, ""
