"""The table of operators that are made of others, and how those are asked."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from ... import _C
from ..._C import Tensor
from ..._ops import arguments_of, aten
from ..arguments import ordered
from ..calls import Call
from ..record import run
from ..stack import nobody_asked

# By an operator's name, or that of one overload: "where.ScalarOther".
_PARTS: dict[str, Callable] = {}


def part(*names: str) -> Callable:
    """Decorates what an operator does, given arguments as its schema has them;
    of several names, operators that do the same.
    """

    def decorate(function: Callable) -> Callable:
        for name in names:
            _PARTS[name] = function
        return function

    return decorate


def find(function) -> Callable | None:
    """The parts of an overload; None for one that PyTorch has whole."""
    packet = getattr(function, "overloadpacket", None)
    if packet is None:
        return None
    name = packet.__name__
    outs = getattr(function, "outs", None)
    found = _PARTS.get(f"{name}.{function._overloadname}")
    if found is None and outs:
        found = _PARTS.get(f"{name}.{function.base}")
    if found is None:
        found = _PARTS.get(name)
    if found is None or not outs or _takes(found, outs):
        return found
    if name in _WHOLE_OUTS:
        return None
    return functools.partial(_written, found, outs)


@functools.cache
def _takes(function: Callable, outs: tuple) -> bool:
    known = inspect.signature(function).parameters
    return all(name in known for name in outs)


# Operators whose forms with `out=` PyTorch has whole.
_WHOLE_OUTS = frozenset(["softmax", "log_softmax", "linalg_eigvals", "linear"])


def _written(function: Callable, outs: tuple, *args, **kwargs):
    """Calls the parts, and writes what they give."""
    places = [kwargs.pop(name) for name in outs]
    result = function(*args, **kwargs)
    results = [result] if isinstance(result, Tensor) else result
    for place, value in zip(places, results):
        write(place, value)
    return places[0] if len(places) == 1 else tuple(places)


def write(place: Tensor, value: Tensor) -> None:
    """Puts a result where the caller wants it."""
    if place.shape != value.shape:
        place.resize_(value.shape)
    ask("copy_", place, value)


def refused(name: str, *args, **kwargs):
    """Raises the error that the operator gives for tensors like these."""

    def like(x):
        if isinstance(x, Tensor):
            return _C.ops.empty(x.shape, dtype=x.dtype, device="meta")
        return x

    with nobody_asked():
        return getattr(_C.ops, name)(*map(like, args), **kwargs)


def send(call: Call):
    """The answer to a call, by its parts if it has such."""
    found = find(call.function)
    if found is None:
        return run(call)
    return found(*call.args, **call.kwargs)


@functools.cache
def _overload(name: str):
    packet, _, overload = name.partition(".")
    return getattr(getattr(aten, packet), overload or "default")


def whole(name: str, *args, **kwargs):
    """Asks for the overload itself, where it has parts only for some calls."""
    function = _overload(name)
    return run(Call(function, *ordered(function, args, kwargs)))


def ask(name: str, *args, **kwargs):
    """Asks for the overload "mul" or "mul.Scalar", by its parts if it is made
    of such.
    """
    function = _overload(name)
    if not hasattr(function, "_text"):  # a question
        return function(*args)
    values = arguments_of(args, kwargs)
    if not _C._dispatch_applies(*values) and not _has_history(values):
        return function(*args, **kwargs)
    return send(Call(function, *ordered(function, args, kwargs)))


def _has_history(values) -> bool:
    """True if gradients come back, which may be of a class that answers: what
    C++ derives would not ask it.
    """
    return _C.is_grad_enabled() and any(
        isinstance(x, Tensor) and x.requires_grad for x in values
    )


def end(name: str, *args, out=None, **kwargs):
    """Asks for an overload, or its form that writes to `out`."""
    if out is None:
        return ask(name, *args, **kwargs)
    packet, _, overload = name.partition(".")
    form = getattr(aten, packet)._out_of(overload or "default")
    return ask(f"{packet}.{form._overloadname}", *args, **kwargs, out=out)


def changed(name: str, x: Tensor, *args) -> Tensor:
    """Asks for "squeeze_.dim" and its like. Histories do not follow where sizes
    change in place, so a tensor with one gives another.
    """
    if x.requires_grad:
        name = name.replace("_.", ".")
    return ask(name, x, *args)


def given(out, value):
    """The value, or what it was written to."""
    if out is None:
        return value
    write(out, value)
    return out


class _Operators:
    """Overloads as functions: `o.mul(x, y)`, `o("mul.Scalar", x, 2)`."""

    def __getattr__(self, name: str) -> Callable:
        made = functools.partial(ask, name)
        setattr(self, name, made)
        return made

    def __call__(self, name: str, *args, **kwargs):
        return ask(name, *args, **kwargs)


o = _Operators()
