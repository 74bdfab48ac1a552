"""Who answers which operator of a kind of tensors, by its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable

from .names import form


class Table(dict):
    """By the operator's name a function that takes what the operator takes.

    `applies(args, kwargs)` tells whether a call is one for this table: a kind
    may have several, for its layouts. `forms` has functions by base name that
    answer each way of writing an operator, the ones in place too, and are given
    the function that was called before its arguments.
    """

    def __init__(self, applies: Callable[[tuple, dict], bool] | None = None):
        super().__init__()
        self.forms: dict[str, Callable] = {}
        self.applies = applies


def answers(
    *names: str, of: Table, every_form: bool = False, asked: bool = False,
    takes_out: bool = False,
) -> Callable:  # fmt: skip
    """Makes a function the one that answers these operators.

    Args:
        of: the table.
        every_form: for each way of writing the operator; see `Table.forms`.
        asked: it is given the function that was called first.
        takes_out: it writes to `out` itself.
    """
    table = of.forms if every_form else of

    def register(function: Callable) -> Callable:
        for name in names:
            table[name] = function
        if asked or every_form:
            function.asked = True
        if takes_out:
            function.takes_out = True
        return function

    return register


def find(
    tables: Iterable[Table], name: str, args: tuple, kwargs: dict
) -> Callable | None:
    """Who answers the operator for these arguments."""
    way = form(name)
    for table in tables:
        found = table.get(name)
        if found is None and way.is_same:
            found = table.get(way.base)
        if found is None:
            found = table.forms.get(way.base)
        if found is not None and (
            table.applies is None or table.applies(args, kwargs)
        ):
            return found
    return None


def find_out_of_place(
    tables: Iterable[Table], name: str, args: tuple, kwargs: dict
) -> Callable | None:
    """Who answers the form of an operator in place that makes a tensor."""
    way = form(name)
    if not way.writes:
        return None
    return find(tables, way.plain, args, kwargs)


def call(handler: Callable, function, args: tuple, kwargs: dict) -> Any:
    """What a handler gives."""
    if getattr(handler, "asked", False):
        return handler(function, *args, **kwargs)
    return handler(*args, **kwargs)
