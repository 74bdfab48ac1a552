"""Settings of `torch.jit`: whether anything is compiled, and what graphs show.

With PYTORCH_JIT=0 in the environment programs stay Python's, for debugging:
`script`, `trace` and `script_method` give back what they were given.
"""

from __future__ import annotations

import contextlib
import os

_OFF = ("0", "false", "no", "off")


class _Enabled:
    """True while programs are compiled."""

    def __init__(self) -> None:
        text = os.environ.get("PYTORCH_JIT", "1")
        self.enabled = text.strip().lower() not in _OFF
        self.shows_places = True

    def __bool__(self) -> bool:
        return self.enabled


_enabled = _Enabled()


def disable() -> None:
    """From now on nothing is compiled; what is compiled stays so."""
    _enabled.enabled = False


def enable() -> None:
    """From now on programs are compiled."""
    _enabled.enabled = True


@contextlib.contextmanager
def _hide_source_ranges():
    """A block in which the text of graphs has no files and lines."""
    before, _enabled.shows_places = _enabled.shows_places, False
    try:
        yield
    finally:
        _enabled.shows_places = before
