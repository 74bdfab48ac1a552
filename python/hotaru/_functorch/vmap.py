"""Inner names of PyTorch's `vmap` that libraries import.

Here `vmap` is a loop over slices: no tensor is batched, and what would make
one refuses.
"""

from __future__ import annotations

from .. import Tensor
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from .extension import _add_batch_dim, _remove_batch_dim
from .slices import check_result
from .slices import name_of as _get_name
from .slices import one_size as _validate_and_get_batch_size

__all__ = [
    "Tensor",
    "_add_batch_dim",
    "_broadcast_to_and_flatten",
    "_get_name",
    "_maybe_remove_batch_dim",
    "_remove_batch_dim",
    "_validate_and_get_batch_size",
    "tree_flatten",
    "tree_unflatten",
]


def _maybe_remove_batch_dim(name, batched_output, vmap_level, batch_size, dim):
    """The result of a call as the caller gets it: as it is where it is not
    mapped. RuntimeError elsewhere: no tensor is batched.

    ValueError for a result that is no tensor and should be mapped.
    """
    if dim is None:
        return batched_output
    check_result(name, batched_output)
    return _remove_batch_dim(batched_output, vmap_level, batch_size, dim)
