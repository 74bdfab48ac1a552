"""Modules of floats that compute in integers, with scales of each call."""

from __future__ import annotations

from .modules import *
from .modules import __all__ as __all__
