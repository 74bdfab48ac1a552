"""Conclusions from the names in code."""

from __future__ import annotations

import dis
import functools
import types

from ...nn import functional
from ...nn.modules._arguments import LayerFunction
from .homes import is_ours

_GRADIENTS = {"grad", "_grad"}
# Means to bind and to delete attributes whose name the code need not have.
_BINDERS = {"setattr", "delattr", "__setattr__", "__delattr__", "__set__", "__delete__"}
_ALL_ITEMS = {"items", "values", "copy", "deepcopy"}
_OF_SCHEDULES = {"get_last_lr", "_last_lr", "last_epoch", "get_lr", "_step_count"}
# Functions that make tensors over memory that Python holds.
_BORROWERS = {"as_tensor", "asarray", "from_numpy", "frombuffer", "from_dlpack"}
# Functions that find what the code has no name for.
_FINDERS = {"eval", "exec", "globals", "__import__"}
_BINDING = ("STORE_ATTR", "DELETE_ATTR")


def names_of(code: types.CodeType) -> set[str]:
    """Names that code and what is defined in it use."""
    return {name for each in _parts(code) for name in each.co_names}


def finds_names(code: types.CodeType) -> bool:
    """Tells whether code looks names up that it does not have, such as those
    in a text that it runs.
    """
    names = names_of(code)
    if "import_module" in names:
        return True
    # Models have a method `eval`.
    return not names.isdisjoint(_FINDERS) and any(
        step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval in _FINDERS
        for each in _parts(code)
        for step in dis.get_instructions(each)
    )


def texts_of(code: types.CodeType) -> set[str]:
    """Texts in code, which may be names (`hasattr(x, "name")`)."""
    return {
        constant
        for each in _parts(code)
        for constant in each.co_consts
        if isinstance(constant, str)
    }


def binds_gradients(reach) -> bool:
    """Tells whether code that was met may bind gradients of tensors, or take
    them away, without having looked at them.
    """
    return any(_binds_gradients(code, names) for code, names in _codes(reach))


def reads_options(reach) -> bool:
    """Tells whether code that was met may read options of optimizers that it
    has: the groups, and in them what is no parameter.
    """
    options = {
        name
        for optimizer in reach.optimizers
        for group in optimizer.param_groups
        for name in group
        if name != "params"
    }
    return any(
        "param_groups" in names
        and (names & _ALL_ITEMS or not options.isdisjoint(texts_of(code)))
        for code, names in _codes(reach)
    )


def reads_schedules(reach) -> bool:
    """True if it may ask schedules for what they change in each step."""
    return any(
        (names | texts_of(code)) & _OF_SCHEDULES for code, names in _codes(reach)
    )


def borrows_memory(reach) -> bool:
    """Tells whether code of others may make tensors over memory that Python
    holds, which a graph takes as it is.
    """
    return any(
        not (names | texts_of(function.__code__)).isdisjoint(_BORROWERS)
        for function, names in _functions(reach)
        if not is_ours(function)
    )


def _codes(reach):
    """The code of the functions that were met, and its names."""
    for function, names in _functions(reach):
        yield function.__code__, names


def _functions(reach):
    """Functions that were met, and the names in their code."""
    for _, value in reach.seen.values():
        if isinstance(value, types.FunctionType):
            yield value, names_of(value.__code__)


def _binds_gradients(code: types.CodeType, names: set) -> bool:
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


@functools.cache
def functional_names(kind: type) -> frozenset[str]:
    """The functions of `nn.functional` that methods of a class may call, for
    this package's layers.
    """
    members = (
        member.fget if isinstance(member, LayerFunction) else member
        for member in vars(kind).values()
    )
    return frozenset(
        name
        for method in members
        if isinstance(method, types.FunctionType)
        for name in names_of(method.__code__)
        if callable(getattr(functional, name, None))  # which loads it
    )
