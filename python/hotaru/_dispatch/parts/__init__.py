"""Operators that PyTorch makes of others, taken apart the way it does.

Whoever answers operators by `__torch_dispatch__` is asked for the parts, in
PyTorch's order. An operator is one of these if PyTorch has no kernel for it,
but a composition; hotaru's is whole. Answerers that say `_sees_whole` are asked
for the operator itself.
"""

from __future__ import annotations

from . import (
    einsum,
    elements,
    layers,
    losses,
    matrices,
    pieces,
    shapes,
    statistics,
    transforms,
)
from .table import find, send

__all__ = ["find", "send"]
