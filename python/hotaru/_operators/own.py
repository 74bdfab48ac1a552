"""Operators that programs defined in C++ (TORCH_LIBRARY), as Python sees them.

They are in the native registry, with a table of kernels in C++ that Python's
kernels join; calls find their kernels there (`hotaru/ops/own/dispatch.cpp`), by
the rule of `dispatch`. Here is what Python asks about them and registers for
them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from .. import _C
from .._function_schema import FunctionSchema, parse_schema
from . import arguments, keys


class OwnOperator:
    """One overload; what `table.Operator` is of operators defined in Python."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self.schema: FunctionSchema = parse_schema(_C._own_schema(qualname))
        self.name = self.schema.name
        self.source = _C._own_source(qualname)
        self.tags: list = []
        self.vmap: Callable | None = None

    def __str__(self) -> str:
        overload = self.schema.overload_name or "default"
        return f"{self.name.replace('::', '.')}.{overload}"

    @functools.cached_property
    def call(self) -> Callable:
        """Calls it, whichever layers and kernels there are."""
        return _C._operator(self.name.removeprefix("aten::"))

    @property
    def kernels(self) -> list[str]:
        """The keys that kernels are registered for."""
        return _C._own_keys(self.qualname)

    def has(self, key: str) -> bool:
        """True if a kernel is registered for the key itself."""
        return key in self.kernels

    def has_composite(self) -> bool:
        """True if it is made of other operators."""
        return self.has(keys.COMPOSITE)

    def has_backend(self, key: str) -> bool:
        """True if calls of a device get a kernel that records nothing."""
        return any(self.has(k) for k in (key, *keys.EXPLICIT))


_known: dict[str, OwnOperator] = {}


def find(qualname: str) -> OwnOperator | None:
    """The operator "ns::name.overload"; None if no C++ defined it."""
    if not _C._own_exists(qualname):
        return None
    found = _known.get(qualname)
    if found is None:
        found = _known[qualname] = OwnOperator(qualname)
    return found


def names_in(namespace: str) -> list[str]:
    """Names that C++ defined in a namespace."""
    start = f"{namespace}::"
    return sorted(
        {
            name[len(start) :].partition(".")[0]
            for name in _C._own_operators()
            if name.startswith(start)
        }
    )


def all_operators() -> list[OwnOperator]:
    """All of them."""
    return [o for o in map(find, _C._own_operators()) if o is not None]


def register(qualname: str, key: str, function: Callable) -> Callable:
    """Adds a kernel of Python's; returns what takes it away.

    C++ may define the operator later. Kernels for keys that no call reaches
    are not kept.
    """
    if not _C._own_reaches(key):
        return lambda: None
    if function is keys.fallthrough_kernel:
        return _C._own_fallthrough(qualname, key)

    def kernel(*values):
        operator = find(qualname)
        args, kwargs = arguments.as_called(operator.schema, values)
        result = function(*args, **kwargs)
        return arguments.results(operator.schema, result)

    return _C._own_implement(qualname, key, kernel)
