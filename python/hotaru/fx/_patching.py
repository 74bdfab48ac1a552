"""Functions exchanged for others while a program is traced."""

from __future__ import annotations

import builtins
import functools
import threading

from .node import map_aggregate
from .proxy import Proxy

# (globals, name) of what `wrap` was told, by the identity of the globals.
WRAPPED_FUNCTIONS: dict = {}
WRAPPED_METHODS: list = []
_MISSING = object()
# PyTorch's mark of what is exchanged and stays so.
_ONCE = "__fx_already_patched"


# Exchanges are for the whole process, so that one thread at a time does them;
# each undoes its own before the next begins.
_exchanging = threading.RLock()


class Patcher:
    """Exchanges items of dicts and attributes of classes until its end."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._undo: list = []
        self._visited: set = set()

    def patch(self, names: dict, name: str, function, deduplicate=True) -> None:
        """Exchanges a global; one that is a builtin is put before it.

        With `deduplicate` the next exchange of it does nothing.
        """
        before = names.get(name, _MISSING)
        if getattr(before, _ONCE, False):
            return
        setattr(function, _ONCE, deduplicate)
        names[name] = function

        def undo() -> None:
            if before is _MISSING:
                names.pop(name, None)
            else:
                names[name] = before

        self._undo.append(undo)

    def patch_method(self, cls, name: str, function, deduplicate=True) -> None:
        """Exchanges a method of a class."""
        if getattr(getattr(cls, name, None), _ONCE, False):
            return
        setattr(function, _ONCE, deduplicate)
        before = vars(cls).get(name, _MISSING)
        setattr(cls, name, function)

        def undo() -> None:
            if before is _MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, before)

        self._undo.append(undo)

    def is_here(self) -> bool:
        """True if this thread is the one that traces."""
        return threading.get_ident() == self._thread

    def visit_once(self, thing) -> bool:
        """True the first time."""
        new = id(thing) not in self._visited
        self._visited.add(id(thing))
        return new

    def __enter__(self) -> Patcher:
        _exchanging.acquire()
        return self

    def __exit__(self, *exception) -> None:
        try:
            while self._undo:
                self._undo.pop()()
        finally:
            _exchanging.release()


def find_proxy(*trees) -> Proxy | None:
    """A proxy among arguments."""
    found: list = []

    def look(a):
        if isinstance(a, Proxy):
            found.append(a)

    map_aggregate(trees, look)
    return found[0] if found else None


def recording(function):
    """The function, of which calls with proxies are nodes."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return call


def recording_method(cls, name: str):
    method = getattr(cls, name)

    @functools.wraps(method)
    def call(*args, **kwargs):
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return method(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return call


def patch_wrapped(patcher: Patcher) -> None:
    """Exchanges all that `wrap` was told of."""
    for (_, name), names in list(WRAPPED_FUNCTIONS.items()):
        if name in names:
            original = names[name]
        elif hasattr(builtins, name):
            original = getattr(builtins, name)
        else:
            original = names[name]
        patcher.patch(names, name, recording(original))
    for cls, name in WRAPPED_METHODS:
        patcher.patch_method(cls, name, recording_method(cls, name))


def patch_globals(patcher: Patcher, names: dict, function_ids: set) -> None:
    """Exchanges those of a module's functions that are to be recorded."""
    if not patcher.visit_once(names):
        return
    for name, value in list(names.items()):
        if name.startswith("_") or not callable(value):
            continue
        if id(value) in function_ids:
            patcher.patch(names, name, recording(value))
