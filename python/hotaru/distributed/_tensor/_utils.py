"""Where PyTorch had `torch.distributed.tensor._utils` before."""

from __future__ import annotations

from ..tensor._utils import compute_local_shape_and_global_offset

__all__ = ["compute_local_shape_and_global_offset"]
