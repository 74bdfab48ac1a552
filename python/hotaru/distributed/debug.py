"""How much is checked and told: $TORCH_DISTRIBUTED_DEBUG.

Collectives that differ are found at every level here, without a cost; the
level is for programs that ask for it.
"""

from __future__ import annotations

import enum
import os


class DebugLevel(enum.Enum):
    """Off, information, details."""

    OFF = 0
    INFO = 1
    DETAIL = 2


_level: DebugLevel | None = None


def set_debug_level_from_env() -> None:
    """Obeys $TORCH_DISTRIBUTED_DEBUG; RuntimeError if that is no level."""
    global _level
    text = os.environ.get("TORCH_DISTRIBUTED_DEBUG") or "OFF"
    if text.upper() not in DebugLevel.__members__:
        raise RuntimeError(
            "The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL."
        )
    _level = DebugLevel[text.upper()]


def get_debug_level() -> DebugLevel:
    """The level."""
    if _level is None:
        set_debug_level_from_env()
    return _level


def set_debug_level(level: DebugLevel) -> None:
    """From now on."""
    global _level
    _level = level
