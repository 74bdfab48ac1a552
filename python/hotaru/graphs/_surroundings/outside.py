"""Reads of the interpreter's and the standard library's objects, as far as
changes of them are noticed by a walk (_reach).
"""

from __future__ import annotations

import collections
import os
import sys
import threading
import types
import weakref

from ... import Tensor
from ..._own_names import is_own
from ...nn import Module
from .homes import top_of
from .raw import has_slots

# Members of libraries that are changed in place.
_LISTS = {"sys": ("argv", "path", "orig_argv", "warnoptions")}
_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}
_MISSING = object()
_VIEWS = tuple(
    type(view)
    for kind in (dict, collections.OrderedDict)
    for view in (kind().keys(), kind().values(), kind().items())
)
# Whose attributes are others' business, or which are known by address.
_STRONG = (Tensor, Module, type, types.FunctionType, types.ModuleType)


def read_library(reach, library, names: set) -> None:
    """Follows what code with these names may read of a library's module."""
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
    if getattr(value, "__module__", None) in ("decimal", "_decimal"):
        _decimal_context(reach)
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        reach.follow(owner, depth)


def _view_of_dict(reach, value, depth, where) -> None:
    import gc

    for container in gc.get_referents(value):
        reach.follow(container, depth)


def _chain(reach, value, depth, where) -> None:
    reach.follow(value.maps, depth)


def _wrapper_of_data(reach, value, depth, where) -> None:
    if is_own(top_of(type(value))):
        return
    reach.learn({"data"})
    reach.follow_attributes(value, depth)


def _all_attributes(reach, value, depth) -> None:
    reach.follow(vars(value), depth)


def _cached(reach, value, depth) -> None:
    reach.caches.append(value)
    reach.follow(value.__wrapped__, depth)


def _of_descriptor(reach, value, depth) -> None:
    """A method that is bound in another way than functions are."""
    for name in ("func", "args", "keywords", "dispatcher", "_unbound", "_obj"):
        reach.follow(getattr(value, name, None), depth)


def _of_operator(reach, value, depth) -> None:
    """Follows what asks objects for names it holds (`operator.attrgetter`)."""
    arguments = value.__reduce__()[1]
    texts = [text for text in arguments if isinstance(text, str)]
    reach.learn({name for text in texts for name in text.split(".")})
    for argument in arguments:
        reach.follow(argument, depth)


def _shared_value(reach, value, depth) -> None:
    reach.follow(value.get_obj(), depth)


def _native_memory(reach, value, depth) -> None:
    reach.read_buffer(value)


def _logger(reach, value, depth) -> None:
    """Which levels it lets pass."""
    while value is not None:
        _names(reach, value, ("level", "disabled", "parent", "filters"))
        _names(reach, value.manager, ("_disable",))
        value = value.parent


def _names(reach, value, names: tuple) -> None:
    reach.around.add_names(vars(value), names)
    for name in names:
        item = vars(value).get(name)
        reach.follow(item if isinstance(item, int) else id(item))


def follow_other(reach, value, depth: int) -> None:
    """The same for objects of modules that need not be there."""
    for base in type(value).__mro__:
        method = _BY_NAME.get((base.__module__, base.__qualname__))
        if method is not None:
            method(reach, value, depth)
            return


def _thread_local(reach, value, depth, where) -> None:
    reach.plain = False  # other threads have other attributes
    reach.follow_attributes(value, depth)


def _context_variable(reach, value, depth) -> None:
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
    """True if an object's attributes are in a dictionary of its own."""
    return hasattr(value, "__dict__") and not has_slots(type(value))


def _weak_container(reach, value, depth, where) -> None:
    reach.follow(value.data, depth)


#: By class, how the walk goes on.
METHODS = (
    (os._Environ, _environment),
    (threading.local, _thread_local),
    (weakref.ReferenceType, _weak_reference),
    (
        (weakref.WeakValueDictionary, weakref.WeakKeyDictionary, weakref.WeakSet),
        _weak_container,
    ),
    ((types.BuiltinFunctionType, types.MethodWrapperType), _builtin),
    ((types.MappingProxyType, *_VIEWS), _view_of_dict),
    (collections.ChainMap, _chain),
    (
        (collections.UserDict, collections.UserList, collections.UserString),
        _wrapper_of_data,
    ),
)

_BY_NAME = {
    ("_contextvars", "ContextVar"): _context_variable,
    ("functools", "_lru_cache_wrapper"): _cached,
    **{
        ("functools", name): _of_descriptor
        for name in (
            "cached_property",
            "partialmethod",
            "singledispatchmethod",
            "_singledispatchmethod_get",  # the method of one, from 3.15 on
        )
    },
    ("operator", "attrgetter"): _of_operator,
    ("operator", "methodcaller"): _of_operator,
    ("logging", "Logger"): _logger,
    ("configparser", "RawConfigParser"): _all_attributes,
    ("configparser", "SectionProxy"): _all_attributes,
    ("multiprocessing.sharedctypes", "SynchronizedBase"): _shared_value,
    **{
        ("_ctypes", name): _native_memory
        for name in ("_SimpleCData", "Structure", "Union", "Array")
    },
}
