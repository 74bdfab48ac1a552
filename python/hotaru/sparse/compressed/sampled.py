"""Products of strided matrices at the elements of a compressed one."""

from __future__ import annotations

import math

from ..._C import Tensor
from ..tensor import SparseTensor, build, parts_of, values_of, with_values
from .convert import Entries, entries
from .product import wide


def at_elements(found: Entries, a: Tensor, b: Tensor) -> Tensor:
    """(batches, nnz): the elements of a @ b at those places.

    Args:
        a: (batches, n, k).
        b: (batches, k, m).
    """
    batches, nnz = found.row.shape
    depth = a.shape[-1]
    rows = found.row.unsqueeze(-1).expand(batches, nnz, depth)
    columns = found.column.unsqueeze(-1).expand(batches, nnz, depth)
    left = wide(a).gather(1, rows)
    right = wide(b).transpose(1, 2).gather(1, columns)
    return (left * right).sum(-1).to(a.dtype)


def sampled(c: SparseTensor, a: Tensor, b: Tensor, beta, alpha) -> Tensor:
    """Beta * c + alpha * (a @ b) at the elements of `c`."""
    lead = tuple(a.shape[:-2])
    if lead and c.dim() == 2:
        c = _repeated(c, lead)
    count = math.prod(lead)
    flat = [x.reshape(count, *x.shape[-2:]) for x in (a, b)]
    made = at_elements(entries(c), *flat)
    values = values_of(c)
    made = made.reshape(values.shape) * alpha
    if beta != 0:
        made = made + values * beta
    return with_values(c, made)


def _repeated(c: SparseTensor, lead: tuple) -> SparseTensor:
    parts = parts_of(c)
    index, inner, values = (
        x.expand(*lead, *x.shape) for x in (parts.index, parts.inner, values_of(c))
    )
    parts = parts._replace(
        index=index.contiguous(), inner=inner.contiguous(), values=values
    )
    return build(parts, (*lead, *c.shape))
