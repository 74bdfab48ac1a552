"""Nested states as flat ones: names are paths joined by dots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ... import Tensor

Path = tuple


def _is_leaf(value: Any) -> bool:
    """Lists are leaves unless they have tensors or states in them."""
    if isinstance(value, Mapping):
        return False
    if not isinstance(value, list):
        return True
    return not any(
        isinstance(item, Tensor)
        or (isinstance(item, (Mapping, list)) and not _is_leaf(item))
        for item in value
    )


def _visit(path: Path, value: Any, see: Callable[[Path, Any], None]) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            _visit((*path, str(key)), item, see)
    elif _is_leaf(value):
        see(path, value)
    else:
        for i, item in enumerate(value):
            _visit((*path, i), item, see)


def flatten_state_dict(state_dict: Mapping) -> tuple[dict, dict[str, Path]]:
    """The state with one name for each value, and the paths of the names.

    Raises:
        ValueError: two values of one name.
    """
    flat: dict[str, Any] = {}
    paths: dict[str, Path] = {}

    def see(path: Path, value: Any) -> None:
        name = ".".join(map(str, path))
        if name in flat:
            raise ValueError(f"duplicated flatten key {name}")
        flat[name], paths[name] = value, path

    for key, value in state_dict.items():
        _visit((str(key),), value, see)
    return flat, paths


def unflatten_state_dict(flat: Mapping, paths: Mapping[str, Path]) -> dict:
    """The nested state of a flat one."""
    nested: dict = {}
    for name, value in flat.items():
        set_element(nested, paths[name], value)
    return nested


def set_element(nested: dict, path: Path, value: Any) -> None:
    """Puts a value at a path; numbers in it are places in lists."""
    place: Any = nested
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
