"""Who answers which operator of a kind of tensors, by its name."""

from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple

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

    def __setitem__(self, name: str, function: Callable) -> None:
        super().__setitem__(name, function)
        ways.cache_clear()


def answers(
    *names: str,
    of: Table,
    every_form: bool = False,
    asked: bool = False,
    takes_out: bool = False,
) -> Callable:
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
        ways.cache_clear()
        if asked or every_form:
            function.asked = True
        if takes_out:
            function.takes_out = True
        return function

    return register


class Way(NamedTuple):
    """A function that answers an operator, and how it is called."""

    handler: Callable
    applies: Callable[[tuple, dict], bool] | None
    asked: bool
    takes_out: bool

    def call(self, function, args: tuple, kwargs: dict) -> Any:
        """Calls the handler and returns what it gives."""
        if self.asked:
            return self.handler(function, *args, **kwargs)
        return self.handler(*args, **kwargs)


@functools.cache
def ways(kind, name: str) -> tuple[Way, ...]:
    """Who answers an operator of a kind, in the order of its tables."""
    how = form(name)
    found = []
    for table in kind.tables:
        handler = table.get(name)
        if handler is None:
            handler = table.get(how.same) or table.forms.get(how.base)
        if handler is not None:
            asked = getattr(handler, "asked", False)
            takes_out = getattr(handler, "takes_out", False)
            found.append(Way(handler, table.applies, asked, takes_out))
    return tuple(found)


def find(kind, name: str, args: tuple, kwargs: dict) -> Way | None:
    """Who answers the operator for these arguments."""
    for way in ways(kind, name):
        if way.applies is None or way.applies(args, kwargs):
            return way
    return None
