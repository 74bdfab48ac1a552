"""Adding sparse tensors to strided ones in place, and emptying sparse ones."""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from . import inplace, pointwise
from ._answers import answers
from .tensor import Parts, SparseTensor, build, is_sparse, parts_of, values_of


@answers("add_", "__iadd__")
def add_(target: Tensor, other: Tensor, *, alpha=1) -> Tensor:
    """Target += alpha * other. Into a strided target go the elements of the
    other alone, equal indices one after the other.

    Raises:
        RuntimeError: a strided tensor into a sparse one; other shapes.
    """
    if is_sparse(target):
        if not is_sparse(other):
            raise RuntimeError(
                "add(sparse, dense) is not supported. Use add(dense, sparse) "
                "instead."
            )
        return inplace.assign(target, pointwise.add(target, other, alpha=alpha))
    if tuple(target.shape) != tuple(other.shape):
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same size, but self has "
            f"size {list(target.shape)} while other has size "
            f"{list(other.shape)} (FYI: dense-sparse addition does not "
            "currently support broadcasting)"
        )
    if parts_of(other).layout is not _C.sparse_coo:
        return target.add_(other.to_dense(), alpha=alpha)
    return _into(target, other, alpha)


def _into(target: Tensor, other: SparseTensor, alpha) -> Tensor:
    values = values_of(other)
    values = (values * alpha if alpha != 1 else values).to(target.dtype)
    indices = parts_of(other).index
    if indices.shape[0] == 0:
        return target.add_(values.sum(0))
    return target.index_put_(tuple(indices), values, accumulate=True)


@answers("zero_")
def zero_(tensor: SparseTensor) -> SparseTensor:
    """Drops all elements of a tensor in coordinates; those of a compressed one
    become 0.
    """
    parts = parts_of(tensor)
    if parts.layout is not _C.sparse_coo:
        emptied = parts._replace(values=hotaru.zeros_like(parts.values))
        return inplace.assign(tensor, build(emptied, tensor.shape))
    dims, inside = parts.index.shape[0], parts.values.shape[1:]
    emptied = Parts(
        parts.layout,
        parts.index.new_zeros((dims, 0)),
        None,
        parts.values.new_zeros((0, *inside)),
    )
    return inplace.assign(tensor, build(emptied, tensor.shape, True))
