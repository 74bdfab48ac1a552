"""One call of an operator, and who answers it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import _C
from .._C import Tensor
from .._extension.grad_mode import no_grad
from .._function_schema.signatures import signature
from .._ops import aten
from ..utils import _pytree
from . import stack

# Functions by which a mode's class or a class of tensors answers an overload,
# instead of its __torch_dispatch__: (mode or class, func, types, args,
# kwargs).
rules: dict[tuple[Any, type], Callable] = {}

# Classes of stand-ins for numbers, which have the number as `hint`.
stand_ins: set[type] = set()


@dataclass
class Call:
    """An overload, or a derivative, and its arguments."""

    function: Any
    args: tuple
    kwargs: dict

    @staticmethod
    def of(op, args: tuple, kwargs: dict) -> Call | None:
        """The call of one overload with arguments as its schema orders them,
        those left out that are the defaults; None if none fits, or none with
        its `out=`.
        """
        args = tuple(map(_as_numbers, args))
        overload = _overload_of(op, args, kwargs)
        if overload is None:
            return None
        packet = getattr(aten, op.__name__)
        if op.__name__ in _NUMBERS_AS_TENSORS:
            overload = _of_tensors(packet, overload)
            if len(args) == 3:  # the factor, which only numbers have there
                args, kwargs = args[:2], {**kwargs, "alpha": args[2]}
        function = getattr(packet, overload)
        if kwargs.get("out") is not None:
            function = packet._out_of(overload)
            if function is None:
                return None
        return Call(function, *_ordered(function, args, kwargs))

    @property
    def tensors(self) -> list[Tensor]:
        """Tensors among the arguments."""
        leaves = _pytree.tree_leaves((self.args, self.kwargs))
        return [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def with_tensors(self, tensors) -> Call:
        """The same call of other tensors."""
        given = iter(tensors)
        args, kwargs = _pytree.tree_map(
            lambda x: next(given) if isinstance(x, Tensor) else x,
            (self.args, self.kwargs),
        )
        return Call(self.function, args, kwargs)

    def by_name(self) -> dict:
        """The arguments that were given, under the names of the schema."""
        text = getattr(self.function, "_text", None)
        if text is None:  # a derivative
            return {}
        names = (
            "self" if name == "input" else name for name in signature(text).parameters
        )
        return {**dict(zip(names, self.args)), **self.kwargs}

    @property
    def in_place(self) -> bool:
        """True if it changes and returns its first argument."""
        name = getattr(self.function, "_overloadname", None)
        if name is None:
            return False
        base = self.function.overloadpacket.__name__
        return base.endswith("_") and not base.endswith("__")

    def below(self):
        """The answer without a history: of the last mode, else of the classes
        among the arguments, subclasses first.
        """
        kinds = types(self.tensors)
        with no_grad():
            if stack.modes():
                with stack.without_last() as mode:
                    found = self._asked(mode, type(mode), _open(kinds))
                if found is not NotImplemented:
                    return found
            for kind in kinds:
                hidden = _C._is_hidden_class(kind)
                seen = kinds if hidden else _open(kinds)
                found = self._asked(kind, kind, seen)
                if found is not NotImplemented:
                    return found
            if not kinds:
                return self.function(*self.args, **self.kwargs)
        raise TypeError(
            f"Multiple dispatch failed for '{self.function}'; all "
            "__torch_dispatch__ handlers returned NotImplemented:\n\n"
            + "\n".join(f"  - tensor subclass {kind}" for kind in kinds)
        )

    def _asked(self, answerer, kind: type, types):
        """The answer of a mode or class, or of the rule that somebody else
        registered for it.
        """
        given = self.function, types, self.args, self.kwargs
        rule = rules.get((self.function, kind)) if rules else None
        if rule is not None:
            return rule(answerer, *given)
        return answerer.__torch_dispatch__(*given)

    @property
    def out(self) -> Tensor | None:
        """The tensor that its result is written to."""
        return self.kwargs.get("out")

    def finish(self, result):
        """Gives what the caller gets: what was written, where something was."""
        if self.out is not None:
            return self.out
        return self.args[0] if self.in_place and self.args else result


# Operators whose numbers PyTorch takes for tensors, so that the overload of
# these is told, with the number.
_NUMBERS_AS_TENSORS = frozenset(
    name + ending
    for name in (
        "add",
        "sub",
        "mul",
        "div",
        "subtract",
        "multiply",
        "divide",
        "true_divide",
        "floor_divide",
    )
    for ending in ("", "_")
)


def _of_tensors(packet, overload: str) -> str:
    """The overload of tensors beside one of a number."""
    for wanted in (overload.replace("Scalar", "Tensor"), "default"):
        if overload.startswith("Scalar") and wanted in packet.overloads():
            return wanted
    return overload


def _overload_of(op, args: tuple, kwargs: dict) -> str | None:
    """The overload that arguments fit. Tensors without values are no numbers,
    so of those with one element others stand in.
    """
    if stand_ins:
        args, kwargs = _with_hints(args), _with_hints(kwargs)
    try:
        return _C._overload_of(op, args, kwargs)
    except RuntimeError as error:
        if "on meta tensors" not in str(error):
            raise
    with stack.nobody_asked():
        args, kwargs = _pytree.tree_map(
            lambda x: _C.ops.empty((2,), dtype=x.dtype) if isinstance(x, Tensor) else x,
            (args, kwargs),
        )
        return _C._overload_of(op, args, kwargs)


def _with_hints(value):
    """Numbers in place of what stands for them."""
    kind = type(value)
    if kind in stand_ins:
        return value.hint
    if kind is dict:
        return {key: _with_hints(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value, Tensor):
        items = map(_with_hints, value)
        return list(items) if kind is list else tuple(items)
    return value


def _as_numbers(value):
    """Sizes of which some are tensors of one element, as numbers."""
    if type(value) not in (list, tuple) or not value:
        return value
    kinds = {isinstance(x, Tensor) for x in value}
    if len(kinds) < 2 or not all(isinstance(x, (int, Tensor)) for x in value):
        return value
    return type(value)(operator.index(x) for x in value)


def types(tensors: list[Tensor]) -> tuple[type, ...]:
    """The classes that answer, subclasses first."""
    found: list[type] = []
    for tensor in tensors:
        kind = _C._answering_class(tensor)
        if kind in found or not _C._dispatches(tensor):
            continue
        place = next(
            (i for i, other in enumerate(found) if issubclass(kind, other)), len(found)
        )
        found.insert(place, kind)
    return tuple(found)


def _open(kinds: tuple[type, ...]) -> tuple[type, ...]:
    """Classes of which tensors are instances, as whoever is asked sees them."""
    return tuple(kind for kind in kinds if not _C._is_hidden_class(kind))


@functools.cache
def _sized(text: str) -> bool:
    """True if the first argument is a list of any number of sizes."""
    return text.partition("(")[2].startswith(("SymInt[] ", "int[] "))


def _ordered(function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    known = list(signature(function._text).parameters.values())
    positional = [p for p in known if p.kind is not p.KEYWORD_ONLY]
    if len(args) > len(positional):  # sizes given one by one: x.view(2, 3)
        last = len(positional) - 1
        args = (*args[:last], tuple(args[last:]))
    elif len(args) == 1 and isinstance(args[0], int) and _sized(function._text):
        args = ([args[0]],)  # torch.empty(2)
    given = dict(zip((p.name for p in positional), args))
    for name, value in kwargs.items():
        given["input" if name == "self" else name] = value
    values = [given.pop(p.name, p.default) for p in positional]
    while values and _is_default(values[-1], positional[len(values) - 1]):
        values.pop()
    named = {p.name: p.default for p in known if p.kind is p.KEYWORD_ONLY}
    rest = {
        name: value
        for name, value in given.items()
        if name not in named or not _same(value, named[name])
    }
    return tuple(values), rest


def _is_default(value, parameter) -> bool:
    return parameter.default is not parameter.empty and _same(value, parameter.default)


def _same(value, default) -> bool:
    return value is default or (
        type(value) is type(default)
        and not isinstance(value, Tensor)
        and value == default
    )
