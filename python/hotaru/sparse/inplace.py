"""Writing into sparse tensors."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .tensor import SparseTensor, is_sparse, parts_of


def assign(out: Tensor, result: Tensor) -> Tensor:
    """Gives `out` the elements of `result`, in its own dtype and layout.

    Raises RuntimeError for a leaf that requires gradients in grad mode, and
    where the result would have a history that `out` could not take.
    """
    if _C.is_grad_enabled() and out.requires_grad and out.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place "
            "operation."
        )
    if not is_sparse(out):
        if is_sparse(result):
            result = result.to_dense()
        return out.resize_(result.shape).copy_(result)
    if not is_sparse(result):
        result = result.to_sparse(layout=out.layout)
    if result.requires_grad and _C.is_grad_enabled():
        raise RuntimeError(
            "sparse tensors are not written in place where gradients are "
            "recorded: use the operator without the underscore"
        )
    return replace(out, result)


def replace(out: SparseTensor, source: SparseTensor) -> SparseTensor:
    """The same without checks."""
    if source.layout is not out.layout:
        source = source.to_sparse(layout=out.layout)
    parts = parts_of(source)
    _C._set_sparse_parts(
        out,
        tuple(source.shape),
        parts.index,
        parts.inner,
        parts.values.to(out.dtype),
        parts.inner is None and _C._sparse_coalesced(source),
    )
    return out
