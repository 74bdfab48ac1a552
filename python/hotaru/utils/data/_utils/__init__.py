"""Parts of `DataLoader`; the names are PyTorch's where it has them."""

from __future__ import annotations

from . import collate, fetch, pin_memory, worker

__all__ = ["collate", "fetch", "pin_memory", "worker"]
