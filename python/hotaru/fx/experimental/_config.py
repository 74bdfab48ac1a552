"""Switches of symbolic sizes: sizes are numbers here, so they change nothing."""

from __future__ import annotations

#: True if sizes that are the same at first are one symbol.
use_duck_shape = True
