"""`functorch.experimental.control_flow`: branches and loops within captures."""

from __future__ import annotations

from ...._higher_order_ops import cond, map

__all__ = ["cond", "map"]
