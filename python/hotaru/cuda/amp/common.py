"""The question for a device, where older programs import it from."""

from __future__ import annotations

from . import amp_definitely_not_available

__all__ = ["amp_definitely_not_available"]
