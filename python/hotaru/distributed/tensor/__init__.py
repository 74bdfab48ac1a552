"""Tensors that lie in parts on several processes.

    mesh = init_device_mesh("cpu", (2,))
    x = distribute_tensor(torch.randn(4, 8), mesh, [Shard(0)])
    y = (x @ w).sum()       # a DTensor; w one, too
    y.full_tensor()         # the whole, in every rank

Operators and modules take them like other tensors. `tensor.parallel` has
modules in parts.
"""

from __future__ import annotations

from ..._own_names import part
from . import _layers, _matrix, _pointwise, _random, _reductions, _views
from ._api import DTensor, distribute_module, distribute_tensor
from ._factories import empty, full, ones, rand, randn, zeros
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "ones",
    "rand",
    "randn",
    "zeros",
]


def __getattr__(name: str):
    if name in ("DeviceMesh", "init_device_mesh", "device_mesh"):
        from .. import device_mesh as mesh

        return mesh if name == "device_mesh" else getattr(mesh, name)
    return part(__name__, name, ("debug", "experimental", "parallel"))
