"""`functorch.experimental`: functions that PyTorch has elsewhere by now."""

from __future__ import annotations

from ....func import hessian, jacfwd, jvp, replace_all_batch_norm_modules_, vmap
from . import control_flow

__all__ = [
    "chunk_vmap",
    "control_flow",
    "hessian",
    "jacfwd",
    "jvp",
    "replace_all_batch_norm_modules_",
]


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """`vmap`, which PyTorch does in `chunks` parts to take less memory; here a
    slice is computed at a time anyway.

    Raises ValueError unless there is at least one part.
    """
    if chunks < 1:
        raise ValueError(f"chunk_vmap: chunks has to be 1 or more, not {chunks}")
    return vmap(func, in_dims, out_dims, randomness)
