"""Where PyTorch had `torch.distributed.tensor.placement_types` before."""

from __future__ import annotations

from ..tensor._dtensor_spec import DTensorSpec, TensorMeta
from ..tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["DTensorSpec", "Partial", "Placement", "Replicate", "Shard", "TensorMeta"]
