"""Sparse tensors: `torch.sparse`, and what Tensor and `torch` have of it."""

from . import (
    compressed,
    convert,
    coo,
    create,
    inplace,
    masks,
    pointwise,
    queries,
)
from .tensor import SparseTensor

__all__ = ["SparseTensor"]
