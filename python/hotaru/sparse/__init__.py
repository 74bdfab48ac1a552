"""Sparse tensors: `torch.sparse`, and what Tensor and `torch` have of it."""

from importlib import import_module

from .._own_names import no_attribute
from ._functions import addmm, as_sparse_gradcheck, log_softmax, mm, softmax, sum
from .compressed.algebra import sampled_addmm
from .diagonals import spdiags
from .invariants import check_sparse_tensor_invariants
from .tensor import SparseTensor

# Their operators answer from now on.
for _name in (
    "compressed.algebra",
    "compressed.convert",
    "compressed.create",
    "compressed.inplace",
    "compressed.pointwise",
    "compressed.reduce",
    "compressed.refusals",
    "compressed.solve",
    "compressed.views",
    "convert",
    "coo.create",
    "coo.factories",
    "coo.multiply",
    "coo.products",
    "coo.reductions",
    "coo.select",
    "coo.shape",
    "coo.sums",
    "inplace",
    "linear",
    "lowrank",
    "masks",
    "pointwise",
    "queries",
    "scalars",
):
    import_module(f"{__name__}.{_name}")

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
    raise no_attribute(__name__, name)
