"""The table of operators defined in Python.

(operator, dispatch key) -> function. hotaru's own operators are not in it, and
neither are those that programs defined in C++ (`own`): they stand in the native
registry, and a name is in one of the two.

Changes take a lock; calls read without one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from .. import _C, ops
from .._function_schema import FunctionSchema
from . import keys, own

_lock = threading.RLock()
_operators: dict[str, Operator] = {}
# Kernels of operators that are not defined yet.
_early: dict[str, dict[str, list]] = {}


class Operator:
    """One overload: its schema and its kernels.

    `kernels` has the function that a key's calls get, the one registered last;
    those before it come back when it is taken away.
    """

    def __init__(
        self, schema: FunctionSchema, tags: list, source: str, kernels: dict
    ) -> None:
        self.schema = schema
        self.tags = tags
        self.source = source
        self.name = schema.name
        self.qualname = qualified(schema.name, schema.overload_name)
        self.history = kernels
        self.kernels: dict[str, Callable] = {}
        self.vmap: Callable | None = None
        # Autocast by device type: (dtype).
        self.autocast: dict[str, object] = {}
        self.alive = True
        for key in kernels:
            self.refresh(key)

    def __str__(self) -> str:
        overload = self.schema.overload_name or "default"
        return f"{self.name.replace('::', '.')}.{overload}"

    def refresh(self, key: str) -> None:
        """Makes the last registration of a key the one that is called."""
        if self.history.get(key):
            self.kernels[key] = self.history[key][-1]
        else:
            self.kernels.pop(key, None)

    def has(self, key: str) -> bool:
        """True if a function is registered for the key itself."""
        return key in self.kernels

    def has_composite(self) -> bool:
        """True if it is made of other operators."""
        return keys.COMPOSITE in self.kernels

    def kernel(self, key: str) -> Callable | None:
        """Finds what a device's calls get: its own, or one for all devices."""
        for name in (key, *keys.EXPLICIT, keys.COMPOSITE):
            found = self.kernels.get(name)
            if found is not None:
                return found
        return None

    def has_backend(self, key: str) -> bool:
        """True if calls of a device get a kernel that records nothing."""
        return any(k in self.kernels for k in (key, *keys.EXPLICIT))


def qualified(name: str, overload: str) -> str:
    """The name "ns::name.overload"; of the default overload, "ns::name"."""
    return f"{name}.{overload}" if overload not in ("", "default") else name


def find(qualname: str) -> Operator | own.OwnOperator | None:
    """The operator "ns::name.overload"; None if no program defined it."""
    return _operators.get(qualname) or own.find(qualname)


def overloads(name: str) -> dict[str, Operator]:
    """Overloads of "ns::name", by their names; empty if there is none."""
    found = {}
    for operator in list(_operators.values()):
        if operator.name == name:
            overload = operator.schema.overload_name or "default"
            found[overload] = operator
    return found


def names_in(namespace: str) -> list[str]:
    """Names that are defined in a namespace."""
    start = f"{namespace}::"
    in_python = {
        o.name[len(start) :]
        for o in list(_operators.values())
        if o.name.startswith(start)
    }
    return sorted(in_python.union(own.names_in(namespace)))


def is_native(name: str) -> bool:
    """True if "ns::name" is one of hotaru's own operators."""
    namespace, _, short = name.partition("::")
    return namespace == "aten" and isinstance(
        vars(ops).get(short.partition(".")[0]), _C.Op
    )


def native_schema(qualname: str) -> str | None:
    """The text of a schema of hotaru's own operators; None if none fits."""
    if not is_native(qualname):
        return None
    short = qualname.partition("::")[2]
    for text in _C._op_schemas(short.partition(".")[0]):
        if text.partition("(")[0] == short:
            return f"aten::{text}"
    return None


def define(schema: FunctionSchema, tags: list, source: str) -> Operator:
    """Adds an operator.

    RuntimeError where there is one of that name and overload already.
    """
    with _lock:
        qualname = qualified(schema.name, schema.overload_name)
        other = find(qualname)
        if other is not None:
            raise RuntimeError(
                f"Tried to register an operator ({schema}) with the same name "
                "and overload name multiple times. Each overload's schema "
                "should only be registered with a single call to def(). "
                f"Duplicate registration: registered at {source}. "
                f"Original registration: registered at {other.source}"
            )
        if is_native(schema.name):
            raise NotImplementedError(
                f"{schema.name} is one of hotaru's own operators, which get no "
                "overloads from Python; define an operator of another name"
            )
        made = Operator(schema, tags, source, _early.pop(qualname, {}))
        _operators[qualname] = made
        return made


def remove(operator: Operator) -> None:
    """Takes an operator away. Kernels registered for it wait for the next."""
    with _lock:
        if _operators.get(operator.qualname) is operator:
            del _operators[operator.qualname]
            left = {k: v for k, v in operator.history.items() if v}
            if left:
                _early[operator.qualname] = left
        operator.alive = False


def register(qualname: str, key: str, function: Callable) -> Callable:
    """Adds a kernel; returns what takes it away again.

    The operator may be defined later. NotImplementedError for hotaru's own.
    """
    if is_native(qualname):
        raise NotImplementedError(
            f"{qualname} is one of hotaru's own operators, whose kernels are "
            "native: Python can't replace them. A TorchFunctionMode "
            "(torch.overrides) sees their calls and may answer them"
        )
    with _lock:
        undo_own = None
        if qualname not in _operators:
            undo_own = own.register(qualname, key, function)
        _history(qualname).setdefault(key, []).append(function)
        _refresh(qualname, key)

    def undo() -> None:
        if undo_own is not None:
            undo_own()
        with _lock:
            listed = _history(qualname).get(key, [])
            if function in listed:
                listed.remove(function)
            _refresh(qualname, key)
            waiting = _early.get(qualname)
            if waiting is not None and not any(waiting.values()):
                del _early[qualname]

    return undo


def _history(qualname: str) -> dict[str, list]:
    operator = _operators.get(qualname)
    if operator is not None:
        return operator.history
    return _early.setdefault(qualname, {})


def _refresh(qualname: str, key: str) -> None:
    operator = _operators.get(qualname)
    if operator is not None:
        operator.refresh(key)
