"""Modules of quantised tensors."""

from __future__ import annotations

from ...._own_names import part
from .modules import *
from .modules import MaxPool2d as MaxPool2d
from .modules import __all__ as __all__


def __getattr__(name: str):
    return part(__name__, name, ("dynamic", "functional"))
