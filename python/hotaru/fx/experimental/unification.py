"""Variables, and the values for them that make two terms equal."""

from __future__ import annotations

import itertools
from collections.abc import Hashable

__all__ = ["Var", "unify", "walk"]

_fresh = itertools.count(1)


class Var:
    """A variable; those of one token are the same.

    Without a token it is a new one.
    """

    def __init__(self, *token: Hashable) -> None:
        if not token:
            token = (f"_{next(_fresh)}",)
        self.token = token[0] if len(token) == 1 else token

    def __repr__(self) -> str:
        return f"~{self.token}"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.token == other.token

    def __hash__(self) -> int:
        return hash((Var, self.token))


def walk(term, values: dict):
    """Follows variables to what they stand for; other terms stay themselves."""
    while isinstance(term, Var) and term in values:
        term = values[term]
    return term


def unify(first, second, values: dict | None = None) -> dict | bool:
    """Values of variables by which two terms are equal.

    Args:
        first, second: variables, constants, or tuples and lists of terms.
        values: what variables already stand for.

    Returns:
        The values, with those given; False if there are none.
    """
    values = dict(values or {})
    todo = [(first, second)]
    while todo:
        one, other = (walk(term, values) for term in todo.pop())
        if one == other:
            continue
        if isinstance(one, Var):
            values[one] = other
        elif isinstance(other, Var):
            values[other] = one
        elif (
            isinstance(one, (tuple, list))
            and type(one) is type(other)
            and len(one) == len(other)
        ):
            todo.extend(reversed(list(zip(one, other))))
        else:
            return False
    return values
