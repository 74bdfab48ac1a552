"""Functions of the top level that few programs call."""

from __future__ import annotations

from .. import Tensor, ops
from .._C import Generator
from .._overrides import overridable as _overridable
from .copies import copy_of as _copy_of

__all__ = [
    "batch_norm_update_stats", "ccol_indices_copy", "col_indices_copy",
    "crow_indices_copy", "indices_copy", "resize_as_sparse_",
    "row_indices_copy",
    "rrelu_", "slice_inverse", "values_copy",
]  # fmt: skip

# What sparse tensors keep.
crow_indices_copy = _copy_of(Tensor.crow_indices, "crow_indices_copy")
col_indices_copy = _copy_of(Tensor.col_indices, "col_indices_copy")
ccol_indices_copy = _copy_of(Tensor.ccol_indices, "ccol_indices_copy")
row_indices_copy = _copy_of(Tensor.row_indices, "row_indices_copy")
indices_copy = _copy_of(Tensor.indices, "indices_copy")
values_copy = _copy_of(Tensor.values, "values_copy")


def rrelu_(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """`rrelu` in place."""
    return input.copy_(
        ops.rrelu(input, lower, upper, training, generator=generator)
    )


def resize_as_sparse_(input: Tensor, the_template: Tensor) -> Tensor:
    """Gives a sparse tensor the sizes of another one."""
    return input.resize_as_sparse_(the_template)


def slice_inverse(
    input: Tensor, src: Tensor, dim: int = 0, start=None, end=None, step=1
) -> Tensor:
    """The tensor that a slice is of: `input`'s memory in the order of `src`.

    RuntimeError: its memory does not reach that far.
    """
    return input.as_strided(src.shape, src.stride(), src.storage_offset())


def batch_norm_update_stats(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
) -> tuple[Tensor, Tensor]:
    """The means and variances of the channels, dimension 1.

    What is kept of earlier batches moves towards them by `momentum`, towards
    the variance without bias.
    """
    others = [d for d in range(input.dim()) if d != 1]
    mean = input.mean(others)
    var = input.var(others, correction=0)
    count = input.numel() // input.size(1)
    if running_mean is not None:
        running_mean.lerp_(mean.to(running_mean.dtype), momentum)
    if running_var is not None:
        unbiased = var * (count / (count - 1)) if count > 1 else var
        running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    return mean, var


_overridable(globals(), __all__, "hotaru")
