"""Where a pipe stands."""

from __future__ import annotations

from enum import Enum


class _SnapshotState(Enum):
    """Whether a pipe goes on or begins anew when an iterator is made."""

    NotStarted = 0  # it begins
    Restored = 1  # it goes on where it stands, once
    Iterating = 2  # it is reset and begins anew
