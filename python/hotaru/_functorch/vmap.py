"""Inner names of PyTorch's `vmap` that libraries import.

Here `vmap` is a loop over slices: no tensor is batched, and what would make
one refuses.
"""

from __future__ import annotations

from .. import Tensor
from ..utils._pytree import (
    _broadcast_to_and_flatten,
    tree_flatten,
    tree_unflatten,
)
from .extension import _add_batch_dim, _remove_batch_dim
from .slices import name_of as _get_name

__all__ = [
    "Tensor", "_add_batch_dim", "_broadcast_to_and_flatten", "_get_name",
    "_maybe_remove_batch_dim", "_remove_batch_dim",
    "_validate_and_get_batch_size", "tree_flatten", "tree_unflatten",
]  # fmt: skip


def _validate_and_get_batch_size(flat_in_dims, flat_args) -> int:
    """The size that all mapped arguments have in their mapped dimension.

    ValueError: there is none, or they differ.
    """
    sizes = [
        arg.size(dim)
        for dim, arg in zip(flat_in_dims, flat_args)
        if dim is not None
    ]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped "
            f"dimension, got sizes {sizes} for the mapped dimension"
        )
    return sizes[0]


def _maybe_remove_batch_dim(name, batched_output, vmap_level, batch_size, dim):
    """The result of a call as the caller gets it: as it is where it is not
    mapped. RuntimeError elsewhere: no tensor is batched.

    ValueError for a result that is no tensor and should be mapped.
    """
    if dim is None:
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type "
            f"{type(batched_output)}. Did you mean to set out_dims= to None "
            "for output?"
        )
    return _remove_batch_dim(batched_output, vmap_level, batch_size, dim)
