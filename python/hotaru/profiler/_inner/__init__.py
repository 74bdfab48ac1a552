"""Calls of PyTorch's operators among each other, as its profiler shows them.

Here an operator is often one kernel where PyTorch calls several operators;
programs look these up in profiles (`aten::mm` below `aten::matmul`). What
allocates, fills and converts is left out.
"""

from __future__ import annotations

from . import einsum, layers, losses, products, views
from .body import CALLS, Row, inner

__all__ = ["CALLS", "Row", "einsum", "inner", "layers", "losses", "products", "views"]
