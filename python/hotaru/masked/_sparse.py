"""Masked functions of inputs in the layouts `sparse_coo` and `sparse_csr`.

What such an input has no element for does not count. A mask picks among the
elements, and an element that it lets through and the input lacks is 0. Results
are in the input's layout, and where nothing counts they have no element.
"""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from ..sparse import coo
from ..sparse.compressed.reduce import KEPT_ONLY
from ..sparse.masks import values_at
from ..sparse.tensor import parts_of, values_of
from ._identity import check_mask_dims


def where(mask: Tensor, input: Tensor, fill: Tensor) -> Tensor:
    """The elements that the mask lets through, of one layout both.

    In dense dimensions, which have no indices, `fill` is where it does not.
    Raises ValueError for other layouts.
    """
    if mask.layout is _C.sparse_csr:
        return where(mask.to_sparse_coo(), input.to_sparse_coo(), fill).to_sparse_csr()
    if mask.layout is not _C.sparse_coo:
        raise ValueError(
            "_where expects strided or sparse COO or sparse CSR tensor but got "
            f"{mask.layout}"
        )
    mask = coo.coalesce(mask)
    through = parts_of(mask).values
    some = through.flatten(1).any(1) if through.dim() > 1 else through
    indices = parts_of(mask).index[:, some]
    pattern = coo.make(indices, some.new_zeros((indices.shape[1],)), mask.shape, True)
    values = values_at(input, pattern)
    if through.dim() > 1:
        values = hotaru.where(through[some], values, fill.to(values.dtype))
    return coo.make(indices, values, input.shape, True)


def input_mask(mask: Tensor, input: Tensor) -> Tensor:
    """The mask in the input's shape and layout, of booleans."""
    _check_layout("_input_mask", input.layout)
    _check_layout("_input_mask", mask.layout)
    check_mask_dims(mask, input)
    if mask.shape != input.shape:
        if mask.layout is _C.sparse_csr:
            mask = mask.to_sparse_coo()
        mask = mask.broadcast_to(input.shape)
    if mask.layout is not input.layout:
        if input.layout is _C.strided:
            mask = mask.to_dense()
        elif input.layout is _C.sparse_csr:
            mask = mask.to_sparse_csr()
        else:
            mask = mask.to_sparse(input.sparse_dim())
    if mask.layout is _C.sparse_coo:
        mask = coo.coalesce(mask)
    return mask if mask.dtype == _C.bool else mask.to(dtype=_C.bool)


def _check_layout(name: str, layout) -> None:
    if layout not in (_C.strided, _C.sparse_coo, _C.sparse_csr):
        raise ValueError(
            f"{name} expects strided or sparse COO or sparse CSR tensor but "
            f"got {layout}"
        )


def reduce(
    name: str, input: Tensor, mask, over: list[int], keepdim: bool, dtype, identity
) -> Tensor:
    """A reduction ("sum", "prod", "amax", "amin", "mean") over `over`.

    Args:
        identity: a function that gives what changes no result.

    Raises:
        ValueError: no mask, but for sums; other layouts.
        AssertionError: `sparse_csr` without `keepdim`.
    """
    _check_reduction(name, input.layout, mask)
    if mask is not None:
        fill = hotaru.tensor(identity(), dtype=input.dtype)
        input = where(input_mask(mask, input), input, fill)
    if input.layout is _C.sparse_coo:
        return _reduce(name, coo.coalesce(input), over, keepdim, dtype)
    if not keepdim:
        raise AssertionError(KEPT_ONLY)
    found = _reduce(name, input.to_sparse_coo(), over, True, dtype, True)
    return found.to_sparse_csr()


def _check_reduction(name: str, layout, mask) -> None:
    known = [_C.sparse_csr] if name == "mean" else _LAYOUTS
    if layout not in known:
        kinds = (
            "strided or sparse_csr"
            if name == "mean"
            else ("strided, sparse_coo or sparse_csr")
        )
        raise ValueError(f"masked {name} expects {kinds} tensor (got {layout} tensor)")
    if mask is None and name != "sum":
        raise ValueError(
            f"masked {name} expects explicit mask for "
            f"{str(layout).removeprefix('torch.')} tensor input"
        )


_LAYOUTS = [_C.sparse_coo, _C.sparse_csr]


def _reduce(
    name: str, input: Tensor, over, keepdim: bool, dtype, rows_stay=False
) -> Tensor:
    """Reduces a coalesced tensor in coordinates.

    Where no dimension with indices is left, the others get some, unless
    `rows_stay`.
    """
    indices, values = parts_of(input).index, values_of(input)
    size, dims = tuple(input.shape), indices.shape[0]
    values = values.to(dtype)
    inside = [d + 1 - dims for d in over if d >= dims]
    if inside:
        values = _inside(name, values, inside, keepdim)
    kept = [d for d in range(dims) if d not in over]
    if dims and not kept and not rows_stay:
        return _whole(name, values, dims if keepdim else 0)
    if len(kept) < dims:
        indices, values = _grouped(name, indices, values, size, kept)
    if keepdim and len(kept) < dims:
        whole = indices.new_zeros((dims, indices.shape[1]))
        whole[kept] = indices
        indices = whole
    left = [
        1 if d in over else size[d]
        for d in range(len(size))
        if keepdim or d not in over
    ]
    return coo.make(indices, values, left, True)


def _whole(name: str, values: Tensor, new: int) -> Tensor:
    """Reduces all elements, with `new` leading dimensions of size 1."""
    if values.shape[0] == 0:
        dense = values.new_zeros(values.shape[1:])
    else:
        group = hotaru.zeros(values.shape[0], dtype=_C.int64, device=values.device)
        dense = _summary(name, values, group, 1)[0]
    return dense.reshape((1,) * new + tuple(dense.shape)).to_sparse()


def _summary(name: str, values: Tensor, group: Tensor, groups: int) -> Tensor:
    """(groups, ...): the reduction of the values of each group."""
    if name == "sum":
        return coo.summed(values, group, groups)
    start = values.new_zeros((groups, *values.shape[1:]))
    return start.index_reduce(0, group, values, name, include_self=False)


def _inside(name: str, values: Tensor, inside, keepdim: bool) -> Tensor:
    if name != "prod":
        return getattr(values, name)(inside, keepdim)
    for d in reversed(inside):
        values = values.prod(d, keepdim)
    return values


def _grouped(name: str, indices: Tensor, values: Tensor, size, kept) -> tuple:
    """Indices of the dimensions that are kept, each once, with the reduction
    of the values that have them.
    """
    rest = tuple(size[d] for d in kept)
    flat = coo.flat_index(indices[kept], rest)
    found, group = flat.unique(return_inverse=True)
    values = _summary(name, values, group, found.shape[0])
    return coo.unflat_index(found, rest), values


def output_mask(mask: Tensor, over: list[int], keepdim: bool) -> Tensor:
    """Where a reduction of what a sparse mask lets through has elements."""
    layout = mask.layout
    mask = coo.coalesce(mask.to_sparse_coo())
    found = _reduce("amax", mask, over, keepdim, _C.uint8)
    return found.to(dtype=_C.bool).to_sparse(layout=layout)
