"""Sequences that are converted as one."""

from __future__ import annotations

from .fused import *
from .fused import __all__ as __all__
from .fused import _FusedModule as _FusedModule
