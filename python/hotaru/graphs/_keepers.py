"""Functions that bring back what containers, cells and names held."""

from __future__ import annotations

import functools

from ._raw import fill, items_of, pairs_of

_MISSING = object()


def same_items(a, b) -> bool:
    """Whether two sequences hold the same objects."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def keep(container):
    """For a list, dictionary or deque."""
    content = (pairs_of if isinstance(container, dict) else items_of)(container)
    return functools.partial(_refill, container, content)


def keep_cell(cell):
    """For what a closure has in a cell."""
    try:
        content = cell.cell_contents
    except ValueError:  # not bound
        return lambda: None
    return functools.partial(setattr, cell, "cell_contents", content)


def keep_names(scope: dict, names: tuple):
    """For what names mean in a module."""
    values = [scope.get(name, _MISSING) for name in names]
    return functools.partial(_rebind, scope, names, values)


def _refill(container, content: list) -> None:
    """Has a container hold what it held, if it holds something else."""
    if isinstance(container, dict):
        now = pairs_of(container)
        same = same_items(
            [part for pair in now for part in pair],
            [part for pair in content for part in pair],
        )
    else:
        same = same_items(items_of(container), content)
    if not same:
        fill(container, content)


def _rebind(scope: dict, names: tuple, values: list) -> None:
    for name, value in zip(names, values):
        if value is _MISSING:
            scope.pop(name, None)
        elif scope.get(name, _MISSING) is not value:
            scope[name] = value
