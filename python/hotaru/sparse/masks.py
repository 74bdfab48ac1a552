"""The elements of one tensor at the indices of another."""

from __future__ import annotations

import hotaru

from .._answering.table import answers
from .._C import Tensor
from . import coo
from ._kind import ANY
from .checks import check_mask
from .compressed import masks as compressed_masks
from .history import linear
from .tensor import (
    COMPRESSED,
    SparseTensor,
    is_sparse,
    parts_of,
    values_of,
    with_values,
)


def values_at(source: Tensor, pattern: SparseTensor) -> Tensor:
    """The elements of `source`, strided or sparse, where `pattern` has some:
    of the shape of its values, 0 where a sparse source has none.
    """
    if parts_of(pattern).layout in COMPRESSED:
        return compressed_masks.values_at(source, pattern)
    indices = parts_of(pattern).index
    if is_sparse(source):
        if parts_of(source).layout in COMPRESSED:
            source = source.to_sparse_coo()
        return _at_coordinates(source, indices, tuple(pattern.shape))
    dims = indices.shape[0]
    if dims == 0:
        return source.unsqueeze(0).expand(indices.shape[1], *source.shape)
    return source[tuple(indices)]


def _at_coordinates(source, indices: Tensor, size: tuple) -> Tensor:
    dims = indices.shape[0]
    if parts_of(source).index is indices:
        return values_of(source)
    source = coo.coalesce(source)
    known = coo.flat_index(parts_of(source).index, size)
    wanted = coo.flat_index(indices, size[:dims])
    values = values_of(source)
    if known.shape[0] == 0:
        return values.new_zeros((wanted.shape[0], *values.shape[1:]))
    place = hotaru.searchsorted(known, wanted).clamp(max=known.shape[0] - 1)
    present = known[place] == wanted
    found = values[place]
    shape = (-1,) + (1,) * (found.dim() - 1)
    return hotaru.where(present.view(shape), found, hotaru.zeros((), dtype=found.dtype))


@answers("sparse_mask", of=ANY)
def sparse_mask(source: Tensor, mask: SparseTensor) -> SparseTensor:
    """The elements of `source` where `mask` has some, in its layout."""
    if not is_sparse(mask):
        raise RuntimeError("sparse_mask(): expected mask to be sparse")
    check_mask(source, mask)
    mask = mask.detach()
    back = _masked if is_sparse(source) else _masked_strided
    return linear(
        lambda x: with_values(mask, values_at(x, mask).clone()),
        lambda g: back(g, mask),
        source,
    )


def _masked(grad: Tensor, mask: SparseTensor) -> Tensor:
    return sparse_mask(grad, mask)


def _masked_strided(grad: Tensor, mask: SparseTensor) -> Tensor:
    return _masked(grad, mask).to_dense()
