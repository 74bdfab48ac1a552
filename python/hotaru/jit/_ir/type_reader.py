"""Types from their text."""

from __future__ import annotations

import functools

import hotaru

from ... import _types as types
from ..._types import SCALAR_TYPES, Known
from .._declared import tuples
from .tokens import Tokens

_PLAIN = {
    **types.SINGLE,
    "string": types.StringType.get(),
    "PyObject": types.PyObjectType.get(),
    "Function": types.FunctionType.get(),
}
_WRAPPERS = {
    "Future": types.FutureType,
    "Await": types.AwaitType,
    "List": types.ListType,
    "Optional": types.OptionalType,
    "Dict": types.DictType,
    "RRef": types.RRefType,
}
_MANY = {"Union": types.UnionType, "Tuple": types.TupleType}


@functools.lru_cache(maxsize=1024)
def read_type(source: str) -> types.Type:
    """The type of that text: "Dict(str, int[])", "Tuple[int, float]".

    RuntimeError: it is none.
    """
    tokens = Tokens(source)
    out = type_at(tokens)
    if tokens.kind() != "end":
        tokens.fail("unexpected text behind a type")
    return out


def type_at(tokens: Tokens) -> types.Type:
    """The type that comes next."""
    out = _type_alone(tokens)
    while True:
        if tokens.accept("?"):
            if isinstance(out, types.UnionType):
                none = types.NoneType.get()
                out = types.UnionType([*out.containedTypes(), none])
            else:
                out = types.OptionalType(out)
        elif tokens.accept("["):
            tokens.expect("]")
            out = types.ListType(out)
        else:
            return out


def _type_alone(tokens: Tokens) -> types.Type:
    def item():
        return type_at(tokens)

    if tokens.accept("("):
        return types.TupleType(tokens.several(")", item))
    name = tokens.take("name")
    if name in SCALAR_TYPES or (name == "Tensor" and tokens.sees("(")):
        known = name if name in SCALAR_TYPES else None
        return _tensor(tokens, known)
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _WRAPPERS or name in _MANY:
        closing = {"(": ")", "[": "]"}.get(tokens.take())
        if closing is None:
            tokens.fail(f"expected the type inside of {name}")
        if closing == "]" and tokens.accept("("):  # Tuple[()]
            tokens.expect(")")
        items = tokens.several(closing, item)
        return _MANY[name](items) if name in _MANY else _WRAPPERS[name](*items)
    if name == "Enum" and tokens.accept("<"):
        cls = tokens.take("name")
        tokens.expect(">")
        return types.EnumType(cls)
    if name == "NamedTuple" and tokens.accept("("):

        def field():
            tokens.take("name")
            tokens.expect(":")
            return item()

        return types.TupleType(tokens.several(")", field))
    shown = tuples.text_of(name)
    return types.ClassType(name) if shown is None else _NamedTuple(name, shown)


class _NamedTuple(types.ClassType):
    """A named tuple of a program, which graphs show by its fields."""

    def __init__(self, name: str, shown: str) -> None:
        super().__init__(name)
        self._shown = shown

    def str(self) -> str:
        return self._shown


def _tensor(tokens: Tokens, scalar_type: str | None) -> types.TensorType:
    known = {"scalar_type": scalar_type}
    if not tokens.accept("("):
        return types.TensorType(Known(**known))
    sizes = []

    def part():
        if tokens.accept("*"):
            sizes.append(None)
        elif tokens.kind() == "number":
            sizes.append(int(tokens.take()))
        else:
            name = tokens.take("name")
            if name == "SS" and tokens.accept("("):  # a symbol
                sizes.append(int(tokens.take("number")))
                tokens.expect(")")
                return
            tokens.expect("=")
            if name == "strides":
                tokens.expect("[")
                known[name] = tuple(
                    tokens.several("]", lambda: int(tokens.take("number")))
                )
            elif name == "requires_grad":
                known[name] = tokens.take("number") != "0"
            elif name == "device":
                device = tokens.take("name")
                if tokens.accept(":"):
                    device += ":" + tokens.take("number")
                known[name] = hotaru.device(device)
            else:
                tokens.fail(f"unknown property '{name}' of a tensor's type")

    tokens.several(")", part)
    return types.TensorType(Known(sizes=tuple(sizes), **known))
