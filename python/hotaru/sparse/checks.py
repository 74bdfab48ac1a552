"""Checks that sparse tensors of both kinds make."""

from __future__ import annotations

from .._C import Tensor
from .._dims import wrap_dim

NOT_CONTIGUOUS = "unsupported memory format option Contiguous"
NO_STRIDES = "Sparse CSR tensors do not have strides"


def wrap_place(tensor: Tensor, dim: int, index: int) -> tuple[int, int]:
    """The dimension and the place in it, from 0 on, that `select` asks for."""
    size = list(tensor.shape)
    dim, index = wrap_dim(dim, len(size)), int(index)
    if not -size[dim] <= index < size[dim]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {size} "
            f"at dimension {dim}"
        )
    return dim, index % size[dim]


def check_product(a: Tensor, b: Tensor) -> None:
    """RuntimeError unless matrices, or batches of them, can be multiplied."""
    (rows, inside), (other, columns) = a.shape[-2:], b.shape[-2:]
    if inside != other:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({rows}x{inside} and {other}x{columns})"
        )


def check_mask(source: Tensor, mask: Tensor) -> None:
    """RuntimeError unless both have one size."""
    if tuple(source.shape) != tuple(mask.shape):
        raise RuntimeError(
            "sparse_mask(): operands have incompatible sizes; self has size "
            f"{list(source.shape)} but mask has size {list(mask.shape)}"
        )


def check_blocksize(what: str, blocksize) -> None:
    """RuntimeError unless there are rows and columns."""
    if len(blocksize) != 2:
        raise RuntimeError(
            f"{what}: blocksize needs to be a tuple of size 2, but got {len(blocksize)}"
        )


def check_sparse_dims(size, sparse: int, dense: int) -> None:
    """RuntimeError unless a size has as many dimensions."""
    if len(size) != sparse + dense:
        raise RuntimeError(
            "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) "
            f"= {len(size)}, sparse_dim = {sparse}, dense_dim = {dense}"
        )
