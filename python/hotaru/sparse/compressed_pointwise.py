"""Products and sums of tensors in the compressed layouts."""

from __future__ import annotations

import hotaru

from .._C import Tensor
from ._answers import answers
from .tensor import is_sparse, values_of, with_values


@answers("mul", "multiply")
def mul(a: Tensor, b) -> Tensor:
    """The product of a sparse tensor and a number, or another tensor of its
    shape.
    """
    if not isinstance(b, Tensor) or (b.dim() == 0 and not is_sparse(b)):
        return with_values(a, values_of(a) * b)
    if not is_sparse(a):
        a, b = b, a
    from .masks import values_at

    return with_values(a, values_of(a) * values_at(b, a))


@answers("add")
def add(a: Tensor, b: Tensor, *, alpha=1) -> Tensor:
    """A + alpha * b, strided."""
    dense = [x.to_dense() if is_sparse(x) else x for x in (a, b)]
    return hotaru.add(*dense, alpha=alpha)
