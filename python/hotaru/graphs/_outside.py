"""What code reads of the interpreter's and the standard library's objects, as
far as changes of it are noticed by a walk (_reach).
"""

from __future__ import annotations

import os
import sys
import threading
import types
import weakref

from .. import Tensor
from ..nn import Module
from ._raw import has_slots

# Of libraries, members that are changed in place.
_LISTS = {"sys": ("argv", "path", "orig_argv", "warnoptions")}
_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}
_MISSING = object()
# Whose attributes are others' business, or which are known by address.
_STRONG = (Tensor, Module, type, types.FunctionType, types.ModuleType)


def read_library(reach, library, names: set) -> None:
    """What code with these names may read of a module of the library."""
    name = library.__name__
    for member in _LISTS.get(name, ()):
        if member in names:
            reach.follow(getattr(library, member, None))
    if name == "os" and not _ENVIRONMENT.isdisjoint(names):
        _environment(reach, os.environ, 0, None)
    if name == "decimal":
        _decimal_context(reach)


def _environment(reach, value, depth, where) -> None:
    reach.environment = True
    reach.follow(value._data)


def _decimal_context(reach) -> None:
    decimal = sys.modules["decimal"]
    reach.plain = False  # it is this thread's
    context = decimal.getcontext()
    reach.add_part((context.prec, context.rounding, context.Emin, context.Emax))


def _builtin(reach, value, depth, where) -> None:
    if value.__module__ == "decimal":
        _decimal_context(reach)


def _thread_local(reach, value, depth, where) -> None:
    reach.plain = False  # other threads have other attributes
    reach.follow_attributes(value, depth)


def is_context_variable(value) -> bool:
    """Whether it is one, of a module that need not be there."""
    contexts = sys.modules.get("_contextvars")
    return contexts is not None and isinstance(value, contexts.ContextVar)


def follow_context_variable(reach, value, depth: int) -> None:
    """Goes on with its value in this context."""
    reach.plain = False  # other contexts have other values
    reach.variables.append(value)
    reach.follow(value.get(_MISSING), depth - 1)


def _weak_reference(reach, value, depth, where) -> None:
    _weakly(reach, value(), depth)


def _weakly(reach, target, depth) -> None:
    """An object that may go, which the walk must not keep."""
    if isinstance(target, _STRONG) or not _has_names(target):
        reach.follow(target, depth - 1)
        return
    # Its end adds to a list, which is noticed.
    ends: list = []
    reach.keep(weakref.ref(target, ends.append))
    reach.around.add_list(ends)
    reach.follow_attributes(target, depth, keeps=False)


def _has_names(value) -> bool:
    """Whether an object's attributes are in a dictionary of its own."""
    return hasattr(value, "__dict__") and not has_slots(type(value))


def _weak_container(reach, value, depth, where) -> None:
    reach.follow(value.data, depth)


#: By class, how the walk goes on.
METHODS = (
    (os._Environ, _environment),
    (threading.local, _thread_local),
    (weakref.ReferenceType, _weak_reference),
    (
        (
            weakref.WeakValueDictionary, weakref.WeakKeyDictionary,
            weakref.WeakSet,
        ),
        _weak_container,
    ),
    (types.BuiltinFunctionType, _builtin),
)  # fmt: skip
