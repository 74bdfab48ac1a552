"""Nested states as flat ones: names are paths joined by dots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._traverse import Path, set_element, traverse_state_dict


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

    traverse_state_dict(state_dict, see)
    return flat, paths


def unflatten_state_dict(flat: Mapping, paths: Mapping[str, Path]) -> dict:
    """The nested state of a flat one."""
    nested: dict = {}
    for name, value in flat.items():
        set_element(nested, paths[name], value)
    return nested
