"""Sparse tensors without elements."""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from ._answers import answers
from .tensor import (
    BLOCKED,
    BY_ROWS,
    Parts,
    SparseTensor,
    build,
    is_sparse,
    layout_of,
    parts_of,
)


def without_elements(
    layout, size, values: Tensor, sparse_dim: int | None = None
) -> SparseTensor:
    """A tensor of no elements in `sparse_coo`, `sparse_csr` or `sparse_csc`.

    `values` (0, dense sizes...) have its dtype and device; all of `size` but
    those has indices.
    """
    size = tuple(size)
    if layout is _C.sparse_coo:
        dims = len(size) if sparse_dim is None else sparse_dim
        index = hotaru.zeros((dims, 0), dtype=_C.int64, device=values.device)
        return build(Parts(layout, index, None, values), size, True)
    if layout in BLOCKED:
        raise RuntimeError(
            f"empty({size}) of layout {layout_of(layout)} needs a block size: "
            "use sparse_compressed_tensor"
        )
    if len(size) < 2:
        raise RuntimeError(
            "torch.empty: Only batched sparse compressed (non-block) tensors "
            f"are supported, but got size {list(size)}"
        )
    rows = size[-2] if layout in BY_ROWS else size[-1]
    index = hotaru.zeros(
        (*size[:-2], rows + 1), dtype=_C.int64, device=values.device
    )
    inner = index[..., :0]
    return build(
        Parts(layout, index, inner, values.reshape(*size[:-2], 0)), size
    )


@answers("zeros", "empty")
def zeros(
    *size, layout, dtype=None, device=None, requires_grad=False,
    pin_memory=False, memory_format=None,
) -> SparseTensor:  # fmt: skip
    """A tensor of no elements; `empty` has none either."""
    if len(size) == 1 and not isinstance(size[0], int):
        size = tuple(size[0])
    values = hotaru.zeros((0,), dtype=dtype, device=device)
    return without_elements(layout, size, values).requires_grad_(requires_grad)


@answers("zeros_like", "empty_like")
def zeros_like(
    tensor: Tensor, *, dtype=None, layout=None, device=None,
    requires_grad=False, pin_memory=False, memory_format=None,
) -> Tensor:  # fmt: skip
    """Zeros of the shape: no elements in `sparse_coo`, the pattern with zeros
    in compressed layouts.
    """
    mine = tensor.layout
    options = {"dtype": dtype or tensor.dtype, "device": device}
    layout = mine if layout is None else layout
    if layout is _C.strided:
        made = hotaru.zeros(tuple(tensor.shape), **options)
    elif layout is _C.sparse_coo and mine is layout:
        parts = parts_of(tensor)
        values = parts.values.new_zeros((0, *parts.values.shape[1:]), **options)
        made = without_elements(
            layout, tensor.shape, values, parts.index.shape[0]
        )
    elif is_sparse(tensor) and mine is layout:
        parts = parts_of(tensor)
        values = hotaru.zeros_like(parts.values, **options)
        made = build(parts._replace(values=values), tensor.shape)
    else:
        values = hotaru.zeros((0,), **options)
        made = without_elements(layout, tensor.shape, values)
    return made.requires_grad_(requires_grad)
