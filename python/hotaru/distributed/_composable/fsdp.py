"""Where PyTorch had `fully_shard` before."""

from __future__ import annotations

from ..fsdp import FSDPModule, fully_shard

__all__ = ["FSDPModule", "fully_shard"]
