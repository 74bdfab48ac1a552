"""Sparse tensors: `torch.sparse`, and what Tensor and `torch` have of it."""

from . import (
    compressed,
    convert,
    coo,
    create,
    extra_broadcast,
    extra_factories,
    extra_into_dense,
    inplace,
    masks,
    pointwise,
    queries,
)
from .tensor import SparseTensor

__all__ = ["SparseTensor"]
