"""Objects that say what their state is."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """Its `state_dict()` is saved in its place; loading fills one of those, and
    gives it to `load_state_dict`.
    """

    def state_dict(self) -> dict[str, Any]:
        """The state, whose tensors loading writes into."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state."""
        ...
