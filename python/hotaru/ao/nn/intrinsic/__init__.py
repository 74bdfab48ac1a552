"""Modules that are converted as one; `qat` and `quantized` have their forms."""

from __future__ import annotations

from ...._own_names import part
from .modules import *
from .modules import __all__ as __all__
from .modules.fused import _FusedModule as _FusedModule


def __getattr__(name: str):
    return part(__name__, name, ("qat", "quantized"))
