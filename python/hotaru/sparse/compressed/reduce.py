"""Sums and other reductions of compressed tensors."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from ..._dims import wrap_dim
from ...autograd import Function
from .._kind import CSX
from ..checks import check_product
from ..tensor import Parts, SparseTensor, build, parts_of, values_of
from . import convert as compressed_convert
from .check import layout_text
from .product import sparse_dense, wide

_REDUCES = ("sum", "mean", "amax", "amin")


KEPT_ONLY = "reduction operations on CSR tensors with keepdim=False is unsupported"


class _Sum(Function):
    """The sum of all elements; every place, kept or not, has the gradient 1."""

    @staticmethod
    def forward(ctx, tensor, dtype):
        ctx.size, ctx.dtype = tuple(tensor.shape), tensor.dtype
        return parts_of(tensor).values.sum(dtype=dtype)

    @staticmethod
    def backward(ctx, grad):
        return grad.to(ctx.dtype).expand(ctx.size), None


class _SumAlong(Function):
    """Sums along dimensions, with the gradient of every place, too."""

    @staticmethod
    def forward(ctx, tensor, dims, dtype):
        ctx.size, ctx.dtype = tuple(tensor.shape), tensor.dtype
        return _reduced(tensor.detach(), dims, True, dtype, "sum")

    @staticmethod
    def backward(ctx, grad):
        if grad.layout is not _C.strided:
            grad = grad.to_dense()
        return grad.to(ctx.dtype).expand(ctx.size), None, None


@answers("sum", of=CSX)
def sum(tensor: SparseTensor, dim=None, keepdim: bool = False, *, dtype=None) -> Tensor:
    """The sum of all elements, strided; of a matrix in `sparse_csr` along one
    or both dimensions with `keepdim`, in `sparse_csr`.
    """
    if dim is None or dim == ():
        return _Sum.apply(tensor, dtype)
    return _reduced(tensor, dim, keepdim, dtype, "sum")


def _sparse_csr_sum(input: Tensor, dim, keepdim: bool = False, *, dtype=None) -> Tensor:
    """The sums of the rows or columns that have elements, in `sparse_csr`."""
    return _reduced(input, dim, keepdim, dtype, "sum")


def _sparse_csr_prod(
    input: Tensor, dim, keepdim: bool = False, *, dtype=None
) -> Tensor:
    """The products of the elements that rows or columns have, in
    `sparse_csr`.
    """
    return _reduced(input, dim, keepdim, dtype, "prod")


def _dims(dim, dims: int) -> set[int]:
    wanted = dim if isinstance(dim, (tuple, list)) else (dim,)
    return {wrap_dim(d, dims) for d in wanted} or set(range(dims))


def _reduced(tensor, dim, keepdim: bool, dtype, how: str) -> SparseTensor:
    dims = _dims(dim, tensor.dim())
    if not keepdim:
        raise RuntimeError(KEPT_ONLY)
    if tensor.layout is not _C.sparse_csr or tensor.dim() != 2:
        raise NotImplementedError(
            f"{how}: only matrices in sparse_csr are reduced along dimensions,"
            f" but the tensor has {tensor.dim()} dimensions and the layout "
            f"{layout_text(tensor.layout)}; call to_dense() first"
        )
    if tensor.dtype == hotaru.bool and dtype is None:
        raise NotImplementedError(
            f"\"_sparse_csr_{how}_cpu\" not implemented for 'Bool'"
        )
    if how == "sum" and tensor.requires_grad and _C.is_grad_enabled():
        return _SumAlong.apply(tensor, tuple(dims), dtype)
    values = values_of(tensor)
    if dtype is not None:
        values = values.to(dtype)
    elif not (values.is_floating_point() or values.is_complex()):
        values = values.long()
    return _folded(tensor, values, dims, how)


def _folded(tensor, values, dims: set, how: str) -> SparseTensor:
    parts = parts_of(tensor)
    rows, columns = tensor.shape
    found = compressed_convert.entries(tensor)
    row, column = found.row[0], found.column[0]
    if dims == {1}:
        present, group = row.unique(return_inverse=True)
        size, outer, inner = (rows, 1), present, hotaru.zeros_like(present)
    elif dims == {0}:
        present, group = column.unique(return_inverse=True)
        size, outer, inner = (1, columns), hotaru.zeros_like(present), present
    else:
        group = hotaru.zeros_like(row)
        outer = inner = group[:1]
        size = (1, 1)
    count = outer.shape[0]
    start = 1 if how == "prod" else 0
    base = hotaru.full((count,), start, dtype=values.dtype)
    if how == "prod":
        made = base.scatter_reduce(0, group, values, "prod")
    else:
        made = wide(base).index_add(0, group, wide(values)).to(values.dtype)
    offsets = compressed_convert.offsets_of(outer.unsqueeze(0), size[0])[0]
    dtype = parts.index.dtype
    folded = Parts(_C.sparse_csr, offsets.to(dtype), inner.to(dtype), made)
    return build(folded, size)


def mm_reduce(a: Tensor, b: Tensor, reduce: str) -> Tensor:
    """The product of a matrix in `sparse_csr` and a strided one, with another
    reduction than the sum of each row's terms: 0 where a row has none.

    Args:
        reduce: "sum", "mean", "amax" or "amin".
    """
    if a.layout is not _C.sparse_csr:
        raise RuntimeError(
            "sparse_mm_reduce: expect self to be SparseCsr, got "
            f"{layout_text(a.layout)}"
        )
    if b.layout is not _C.strided:
        raise RuntimeError(
            f"sparse_mm_reduce: expect other to be Strided, got {layout_text(b.layout)}"
        )
    if reduce not in _REDUCES:
        raise RuntimeError(
            f"sparse_mm_reduce: reduce type of {reduce} has not been enabled."
        )
    check_product(a, b)
    if reduce in ("sum", "mean"):
        made = sparse_dense(a, b)
        if reduce == "sum":
            return made
        begins = parts_of(a).index.long()
        return made / (begins[1:] - begins[:-1]).clamp(min=1).unsqueeze(1)
    found = compressed_convert.entries(a)
    values = wide(found.values[0]).unsqueeze(1)
    terms = values * wide(b).index_select(0, found.column[0])
    zero = terms.new_zeros((a.shape[0], b.shape[1]))
    place = found.row[0].unsqueeze(1).expand(terms.shape)
    made = zero.scatter_reduce(0, place, terms, reduce, include_self=False)
    return made.to(b.dtype)
