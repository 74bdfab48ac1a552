"""One call of an operator, and who answers it."""

from __future__ import annotations

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
from .arguments import completed, ordered
from .renamed import renamed

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
    def of(op, args: tuple, kwargs: dict, whole: bool = False) -> Call | None:
        """The call of one overload with arguments as its schema orders them,
        those left out that are the defaults; None if none fits, or none with
        its `out=`. `whole`: of types as they are given.
        """
        args = tuple(map(_as_numbers, args))
        overload = _overload_of(op, args, kwargs)
        if overload is None:
            return None
        name = op.__name__
        if not whole:
            name, overload = renamed(name, overload)
        packet = getattr(aten, name)
        if name in _NUMBERS_AS_TENSORS:
            overload = _of_tensors(packet, overload)
            if len(args) == 3:  # the factor, which only numbers have there
                args, kwargs = args[:2], {**kwargs, "alpha": args[2]}
        function = getattr(packet, overload)
        if kwargs.get("out") is not None:
            function = packet._out_of(overload)
            if function is None:
                return None
            kwargs = _apart(function, kwargs)
        elif not whole:
            kwargs = completed(function, kwargs)
        return Call(function, *ordered(function, args, kwargs, not whole))

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
    def outs(self) -> list:
        """Tensors that its results are written to."""
        names = getattr(self.function, "outs", ())
        return [self.kwargs[name] for name in names]

    def finish(self, result):
        """Gives what the caller gets: what was written, where something was."""
        outs = self.outs
        if outs and self.function._text.endswith("-> ()"):
            return None
        if outs:
            kind = type(result) if hasattr(result, "n_fields") else tuple
            return outs[0] if len(outs) == 1 else kind(outs)
        return self.args[0] if self.in_place and self.args else result


def _apart(function, kwargs: dict) -> dict:
    """Results to write to, each as the argument that the overload has, and
    without what they say themselves.
    """
    given = dict(kwargs)
    if "bool? pin_memory" in function._text:
        given = {k: v for k, v in kwargs.items() if k not in _OPTIONS}
    if function.outs != ("out",):
        out = given.pop("out")
        out = (out,) if len(function.outs) == 1 else out
        given.update(zip(function.outs, out))
    return given


# Options of functions that make tensors, which a tensor to write to has.
_OPTIONS = frozenset(["dtype", "layout", "device", "pin_memory"])

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


# Texts of errors about tensors without values that could be numbers.
_WITHOUT_VALUES = "on meta tensors", "without memory of their own"


def _overload_of(op, args: tuple, kwargs: dict) -> str | None:
    """The overload that arguments fit. Tensors without values are no numbers,
    so of those with one element others stand in.
    """
    if stand_ins:
        args, kwargs = _with_hints(args), _with_hints(kwargs)
    try:
        return _C._overload_of(op, args, kwargs)
    except RuntimeError as error:
        if not any(text in str(error) for text in _WITHOUT_VALUES):
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


def sees_whole(values) -> bool:
    """Tells whether who is asked first, of these values, takes operators that
    PyTorch makes of others as they are.
    """
    if stack.modes():
        return getattr(stack.modes()[-1], "_sees_whole", False)
    kinds = types([x for x in values if isinstance(x, Tensor)])
    return bool(kinds) and getattr(kinds[0], "_sees_whole", False)


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
