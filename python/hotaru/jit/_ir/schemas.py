"""Operators' signatures, asked about nodes."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import hotaru

from ..._schemas import split
from . import types
from .type_reader import read_type

_MARKS = re.compile(r"\([a-z!*|> -]+\)")  # of aliases: Tensor(a!)
_LENGTH = re.compile(r"\[\d+\]")
_NUMBERS = {"ScalarType", "Layout", "MemoryFormat", "SymInt"}


class Argument(NamedTuple):
    """One of a signature's."""

    type: types.Type
    name: str
    has_default: bool
    keyword_only: bool


@functools.lru_cache(maxsize=4096)
def arguments_of(schema: str) -> tuple[Argument, ...]:
    """The arguments of "add.Tensor(Tensor self, ...) -> Tensor".

    RuntimeError: a type is unknown.
    """
    inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    out, keyword_only = [], False
    for part in split(inside):
        if part == "*":
            keyword_only = True
            continue
        text, _, default = part.partition("=")
        type_text, _, name = text.rpartition(" ")
        type_text = _LENGTH.sub("[]", _MARKS.sub("", type_text))
        word = re.match(r"\w+", type_text)
        if word and word[0] in _NUMBERS:
            type_text = "int" + type_text[word.end() :]
        type = read_type(type_text)
        out.append(Argument(type, name, bool(default), keyword_only))
    return tuple(out)


def schema_for(node) -> str | None:
    """The signature of the registered operator that the inputs fit, if any."""
    space, _, name = node.kind().partition("::")
    packet = getattr(hotaru.ops.aten, name, None) if space == "aten" else None
    if packet is None:
        return None
    for overload in packet.overloads():
        schema = str(getattr(packet, overload)._schema)
        try:
            if _fits(node, arguments_of(schema)):
                return schema
        except RuntimeError:  # a type that graphs do not have
            continue
    return None


def _fits(node, arguments) -> bool:
    given = [value.type() for value in node.inputs()]
    if len(given) > len(arguments):
        return False
    return all(
        type.isSubtypeOf(argument.type)
        for type, argument in zip(given, arguments)
    ) and all(argument.has_default for argument in arguments[len(given) :])
