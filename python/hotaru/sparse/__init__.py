"""Sparse tensors: `torch.sparse`, and what Tensor and `torch` have of it."""

from . import (
    compressed,
    compressed_algebra,
    compressed_convert,
    compressed_create,
    compressed_inplace,
    compressed_pointwise,
    compressed_reduce,
    compressed_refusals,
    compressed_solve,
    compressed_views,
    convert,
    coo,
    coo_create,
    coo_factories,
    coo_multiply,
    coo_products,
    coo_reductions,
    coo_select,
    coo_shape,
    coo_sums,
    extra_linear,
    extra_lowrank,
    inplace,
    masks,
    pointwise,
    queries,
    scalars,
)
from ._functions import (
    addmm,
    as_sparse_gradcheck,
    log_softmax,
    mm,
    softmax,
    sum,
)
from .compressed_algebra import sampled_addmm
from .diagonals import spdiags
from .invariants import check_sparse_tensor_invariants
from .tensor import SparseTensor

__all__ = [
    "SparseTensor",
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]


def __getattr__(name: str):
    if name.endswith("Tensor"):
        from .legacy import named

        found = named(name)
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
