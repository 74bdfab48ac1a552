"""Walks through nested states: mappings, and lists with tensors in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ... import Tensor

Path = tuple


def _is_leaf(value: Any, keep_traversing: Callable[[Any], bool]) -> bool:
    """Lists are leaves unless they have tensors or states in them."""
    if isinstance(value, Mapping):
        return False
    if not isinstance(value, list):
        return True
    return not any(
        (keep_traversing is not None and keep_traversing(item))
        or (isinstance(item, (Mapping, list)) and not _is_leaf(item, keep_traversing))
        for item in value
    )


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def traverse_state_dict(
    state_dict: Mapping,
    visitor: Callable[[Path, Any], None],
    keep_traversing: Callable[[Any], bool] = _is_tensor,
) -> None:
    """Calls `visitor(path, value)` for every leaf. A list is one, unless it has
    states in it, or items that `keep_traversing` says yes to.
    """

    def visit(path: Path, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, item in value.items():
                visit((*path, str(key)), item)
        elif _is_leaf(value, keep_traversing):
            visitor(path, value)
        else:
            for i, item in enumerate(value):
                visit((*path, i), item)

    visit((), state_dict)


def set_element(root: dict, path: Path, value: Any) -> None:
    """Puts a value at a path; numbers in it are places in lists."""
    place: Any = root
    for key, following in zip(path, path[1:]):
        place = _step(place, key, [] if isinstance(following, int) else {})
    last = path[-1]
    if isinstance(place, list):
        _extend(place, last)
    place[last] = value


def _step(place: Any, key: Any, fresh: Any) -> Any:
    if isinstance(place, list):
        _extend(place, key)
        if place[key] is None:
            place[key] = fresh
        return place[key]
    return place.setdefault(key, fresh)


def _extend(place: list, index: int) -> None:
    place.extend([None] * (index + 1 - len(place)))


def get_element(root: dict, path: Path, default: Any = None) -> Any:
    """The value at a path; `default` if there is none."""
    place: Any = root
    for key in path:
        if isinstance(key, int):
            if not isinstance(place, list) or len(place) <= key:
                return default
        elif not isinstance(place, Mapping) or key not in place:
            return default
        place = place[key]
    return place
