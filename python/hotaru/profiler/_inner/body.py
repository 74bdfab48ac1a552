"""Inside of an operator: a body that is run without tensors."""

from __future__ import annotations

import functools
from typing import NamedTuple

from .. import _geometry as g
from .._flops import flops_of
from .._geometry import Given
from .._inputs import shapes_of, values_of

CALLS: dict = {}
"""Calls of operators, by their names: a function of a `Body` and inputs."""
VIEWS: dict = {}
"""Results of views, and what they call; see `views.py`."""


class Row(NamedTuple):
    """An operator inside of another one.

    Attributes:
        name: without "aten::". shapes, values: of its inputs, in the schema's
            order. rows: what is inside of it. works: whether it is what takes
            the time. size: how many they are, it included. flops: its count.
    """

    name: str
    shapes: list
    values: list
    rows: tuple[Row, ...]
    works: bool
    size: int
    flops: int


def inner(name: str, inputs) -> tuple[Row, ...]:
    """Returns the rows inside of an operator, in order.

    Args:
        inputs: a `Given` in the place of a tensor; tuples for lists.
    """
    if name not in CALLS:
        return ()
    try:
        return _rows(name, *inputs)
    except TypeError:  # what cannot be a key is no input of these
        return ()


@functools.lru_cache(maxsize=4096, typed=True)
def _rows(name: str, *inputs) -> tuple[Row, ...]:
    if any(map(_strange, inputs)):
        return ()
    body = Body()
    try:
        CALLS[name](body, *inputs)
    except (IndexError, TypeError, ValueError, ZeroDivisionError):
        return ()  # arguments that the operator itself has refused
    return tuple(body.rows)


def _strange(value) -> bool:
    if isinstance(value, Given):
        return value.stride is None
    return isinstance(value, tuple) and any(map(_strange, value))


class Body:
    """The operators that another one calls."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def call(self, name: str, *inputs, works: bool = True) -> None:
        """Adds an operator, with what is inside of it."""
        given = [tuple(i) if type(i) is list else i for i in inputs]
        rows = inner(name, given)
        size = 1 + sum(row.size for row in rows)
        shapes, values = shapes_of(given), values_of(given)
        flops = flops_of(name, given)
        self.rows.append(Row(name, shapes, values, rows, works, size, flops))

    def view(self, name: str, x: Given, *inputs) -> Given:
        """Adds an operator of `VIEWS`; gives its result."""
        self.call(name, x, *inputs, works=False)
        return VIEWS[name][0](x, *inputs)

    def reshape(self, x: Given, *size) -> Given:
        """Adds a `reshape`; gives its result."""
        self.call("reshape", x, list(size), works=False)
        shape = g.known_size(x, size)
        return x.like(shape, g.view_strides(x, shape))

    def as_view(self, x: Given, *size, name: str = "view") -> Given:
        """Adds a `view`; gives its result."""
        self.call(name, x, list(size), works=False)
        return x.like(g.known_size(x, size))


def broadcast(*shapes) -> tuple[int, ...]:
    """The shape that all of them are expanded to."""
    longest = max(map(len, shapes))
    padded = [(1,) * (longest - len(s)) + tuple(s) for s in shapes]
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*padded))


def forward(name: str):
    """Calls one other operator, with the same inputs."""

    def body(b: Body, *inputs) -> None:
        b.call(name, *inputs)

    return body
