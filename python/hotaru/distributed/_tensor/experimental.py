"""Where PyTorch had `torch.distributed.tensor.experimental` before."""

from __future__ import annotations

from ..tensor.experimental import implicit_replication

__all__ = ["implicit_replication"]
