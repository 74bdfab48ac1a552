"""One call with arguments of a kind that answers itself."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from .. import _C
from .names import form
from .table import find

_ACCESSORS = frozenset(["__get__", "__set__", "__delete__"])
_FIRST = ("input", "self", "tensor", "tensors", "query")
# Attributes that are operators.
_COMPUTED = frozenset(
    ["T", "mT", "H", "mH", "real", "imag", "data", "nbytes", "_version"]
)


def answer(kind, function, args: tuple, kwargs: dict) -> Any:
    """Answers a call of the function: by the first of these.

    - who answers the operator, however it is written,
    - any tensor, of names about the tensor itself,
    - the method of the kind's class,
    - the function's own body, of functions that are written in Python,
    - who answers the form that makes a tensor, written to the first argument.

    Else the kind's refusal is raised. `out` is written last.
    """
    name = function.__name__
    if name in _ACCESSORS:
        return kind.attribute(function, name, *args)
    if "." in name:
        name = name.partition(".")[0]
    if not args and kwargs:
        args, kwargs = _first(kwargs)
    out, given = None, kwargs
    if "out" in kwargs and not kind.passes_out:
        kwargs = dict(kwargs)
        out = kwargs.pop("out")
        given = kwargs if out is None else {**kwargs, "out": out}
    way = find(kind, name, args, given)
    if way is None:
        return _unlisted(kind, function, name, args, given)
    if way.takes_out:
        return way.call(function, args, {**kwargs, "out": out})
    result = way.call(function, args, kwargs)
    if out is not None:
        return write_out(kind, out, result)
    return kind.finish(name, args, result)


def _unlisted(kind, function, name: str, args: tuple, kwargs: dict) -> Any:
    if name in kind.about:
        return kind.plain(function, *args, **kwargs)
    own = args and own_methods(kind, _C._answering_class(args[0])).get(name)
    if own:
        return own(*args, **kwargs)
    if type(function) is _C.Function and name not in kind.refused:
        return kind.body(function, name, args, kwargs)
    how, way = form(name), None
    if how.writes and kind.writes_back:
        way = find(kind, how.plain, args, kwargs)
    if way is None:
        return kind.refuse(function, name, args, kwargs)
    if way.asked:
        function = getattr(_C.ops, how.plain)
    return kind.write(args[0], way.call(function, args, kwargs), name)


def write_out(kind, out, result) -> Any:
    """Writes results where the caller wants them."""
    if isinstance(out, (tuple, list)):
        pairs = zip(out, result)
        return type(out)(write_out(kind, o, r) for o, r in pairs)
    return kind.write(out, result, None)


def attribute(kind, accessor, action: str, *args) -> Any:
    """Answers the reading, writing or deleting of an attribute."""
    name = accessor.__self__.__name__
    if name in kind.attributes:
        way = find(kind, f".{name}", args, {})
        return way.call(accessor, args, {})
    if action == "__get__":
        own = own_attributes(kind, _C._answering_class(args[0]))
        if name in own:
            value = own[name]
            return value.fget(args[0]) if isinstance(value, property) else value
        if name in _COMPUTED:
            way = find(kind, name, args, {})
            if way is not None:
                return way.call(accessor, args, {})
        if name in kind.absent:
            return kind.refuse(accessor, name, args, {})
    elif action == "__set__" and name == "data":
        return kind.set_data(accessor, *args)
    return kind.plain(accessor, *args)


@functools.cache
def own_methods(kind, cls: type) -> dict:
    """The methods that a kind's classes have themselves, by name."""
    return {
        name: value
        for each in reversed(cls.__mro__)
        if each in kind.classes or each in kind.bases
        for name, value in vars(each).items()
        if type(value) is FunctionType
    }


@functools.cache
def own_attributes(kind, cls: type) -> dict:
    """Attributes and properties that a kind's classes have in Tensor's place, by
    name.
    """
    return {
        name: value
        for each in reversed(cls.__mro__)
        if each in kind.classes
        for name, value in vars(each).items()
        if type(value) is not FunctionType
        and not name.startswith("__")
        and hasattr(_C.Tensor, name)
    }


def _first(kwargs: dict) -> tuple[tuple, dict]:
    """The arguments with the first in its place that was given by name."""
    for name in _FIRST:
        if name in kwargs:
            rest = {k: v for k, v in kwargs.items() if k != name}
            return (kwargs[name],), rest
    return (), kwargs
