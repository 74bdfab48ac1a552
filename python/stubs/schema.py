"""Operators' schemas as values: `max.dim(Tensor self, int dim) -> Tensor`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ALIAS = re.compile(r"\([a-z*](?:\|[a-z*])*!?(?: -> [a-z*|!]+)?\)")


@dataclass(frozen=True)
class Argument:
    """An argument; `default` is the schema's text, None where it is required."""

    name: str
    type: str
    default: str | None
    keyword_only: bool


@dataclass(frozen=True)
class Result:
    """A result; `name` is empty where the schema has none."""

    name: str
    type: str


@dataclass(frozen=True)
class Schema:
    """One overload of an operator."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    aliases: bool

    def argument(self, name: str) -> Argument | None:
        """The argument of that name, if there is one."""
        return next((a for a in self.arguments if a.name == name), None)


def parse(text: str) -> Schema:
    """The schema that the text says."""
    call, _, results = text.rpartition(") -> ")
    if results.endswith(")") and " -> (" in text:
        call, _, results = text.partition(") -> (")
        results = "(" + results
    full, _, arguments = call.partition("(")
    name, _, overload = full.partition(".")
    return Schema(
        name,
        overload,
        tuple(_arguments(_ALIAS.sub("", arguments))),
        tuple(_results(_ALIAS.sub("", results))),
        bool(_ALIAS.search(results)),
    )


def _arguments(text: str) -> list[Argument]:
    out = []
    keyword_only = False
    for part in filter(None, re.split(r", (?![^\[]*\])", text)):
        if part == "*":
            keyword_only = True
            continue
        head, equals, default = part.partition("=")
        kind, name = head.rsplit(" ", 1)
        out.append(Argument(name, kind, default if equals else None, keyword_only))
    return out


def _results(text: str) -> list[Result]:
    if text.startswith("("):
        text = text[1:-1]
    parts = [part.partition(" ") for part in text.split(", ") if part]
    return [Result(name, kind) for kind, _, name in parts]
