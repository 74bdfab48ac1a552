"""Functions of the top level that few programs call."""

from __future__ import annotations

from .. import Tensor, int64, linalg, strided, tensor
from .._dims import wrap_dim
from .._overrides import overridable as _overridable
from .copies import copy_of as _copy_of

__all__ = [
    "_shape_as_tensor",
    "ccol_indices_copy",
    "col_indices_copy",
    "crow_indices_copy",
    "indices_copy",
    "native_norm",
    "resize_as_sparse_",
    "row_indices_copy",
    "slice_inverse",
    "values_copy",
]

# Parts that sparse tensors keep.
crow_indices_copy = _copy_of(Tensor.crow_indices, "crow_indices_copy")
col_indices_copy = _copy_of(Tensor.col_indices, "col_indices_copy")
ccol_indices_copy = _copy_of(Tensor.ccol_indices, "ccol_indices_copy")
row_indices_copy = _copy_of(Tensor.row_indices, "row_indices_copy")
indices_copy = _copy_of(Tensor.indices, "indices_copy")
values_copy = _copy_of(Tensor.values, "values_copy")


def resize_as_sparse_(input: Tensor, the_template: Tensor) -> Tensor:
    """Gives a sparse tensor the sizes of another one."""
    return input.resize_as_sparse_(the_template)


def slice_inverse(
    input: Tensor, src: Tensor, dim: int = 0, start=None, end=None, step=1
) -> Tensor:
    """The tensor that a slice is of, see `Tensor.slice_inverse`."""
    return input.slice_inverse(src, dim, start, end, step)


def check_whole(input: Tensor, dims: list, keepdim: bool, dtype) -> None:
    """RuntimeError for a norm of a sparse tensor that is not of all of it."""
    count = input.dim()
    whole = len(dims) == count and count == len({wrap_dim(d, count) for d in dims})
    if dims and not whole:
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' "
            "must either be empty or contain all dimensions of the input"
        )
    if keepdim:
        raise RuntimeError("norm_sparse currently does not support keepdim=True")
    if dtype is not None:
        raise RuntimeError("norm_sparse currently does not support 'dtype' argument")


def native_norm(
    input: Tensor, p=2, dim=(), keepdim: bool = False, dtype=None
) -> Tensor:
    """The norm of all elements of a sparse tensor; of others it is
    `torch.linalg.vector_norm`.

    Raises:
        NotImplementedError: of a strided tensor.
        RuntimeError: of some dimensions alone, which are to be kept, or in
            another dtype.
    """
    if input.layout is strided:
        raise NotImplementedError(
            "native_norm: not implemented for strided tensors; use "
            "torch.linalg.vector_norm"
        )
    dim = [dim] if isinstance(dim, int) else list(dim)
    check_whole(input, dim, keepdim, dtype)
    values = input.coalesce().values() if input.is_sparse else input.values()
    return linalg.vector_norm(values, 2 if p is None else p)


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The shape as a tensor of integers; a trace asks for it when it runs."""
    return tensor(self.shape, dtype=int64)


_overridable(globals(), __all__, "hotaru")
