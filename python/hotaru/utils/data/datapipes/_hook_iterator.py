"""Where a pipe stands."""

from __future__ import annotations

from enum import Enum


class _SnapshotState(Enum):
    """State that says if a pipe goes on or begins anew with a new iterator."""

    NotStarted = 0  # it begins
    Restored = 1  # it goes on where it stands, once
    Iterating = 2  # it is reset and begins anew
