"""Sums, norms and softmax of tensors in coordinates."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from ..._dims import wrap_dim
from ..._functions.rare import check_whole
from ...autograd import Function
from .. import coo
from .._kind import COO, unknown
from ..tensor import SparseTensor, parts_of, values_of, with_values


class _Total(Function):
    """The sum of all elements: also of those that are not kept, so that its
    derivative is strided.
    """

    @staticmethod
    def forward(ctx, tensor):
        ctx.size = tuple(tensor.shape)
        return parts_of(tensor).values.sum()

    @staticmethod
    def backward(ctx, grad):
        return grad.expand(ctx.size)


@answers("sum", of=COO)
def total(
    tensor: SparseTensor, dim=None, keepdim: bool = False, *, dtype=None
) -> Tensor:
    """The sum of all elements, or over dimensions, which gives a sparse tensor
    unless these are all that have indices.
    """
    if dtype is not None:
        tensor = tensor.to(dtype)
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        if tensor.requires_grad and _C.is_grad_enabled():
            return _Total.apply(tensor)
        return parts_of(tensor).values.sum()
    found = _sparse_sum(tensor, dim)
    if keepdim:
        dims = (dim,) if isinstance(dim, int) else dim
        for d in sorted(wrap_dim(d, tensor.dim()) for d in dims):
            found = found.unsqueeze(d)
    return found


@answers("_sparse_sum", of=COO)
def _sparse_sum(input: SparseTensor, dim=None, *, dtype=None) -> Tensor:
    """`torch.sparse.sum`: the derivative is sparse, at the elements of
    `input`.

    Args:
        dim: one dimension or several; all where left out.
        dtype: of the sum; by default that of strided sums.

    Raises IndexError and RuntimeError for dimensions that do not exist or
    occur twice.
    """
    if dtype is not None:
        input = input.to(dtype)
    if dim is None:
        return values_of(input).sum()
    dims = [dim] if isinstance(dim, int) else list(dim)
    dims = [wrap_dim(d, input.dim()) for d in dims]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    input = coo.coalesce(input)
    indices, values = parts_of(input).index, values_of(input)
    sparse = indices.shape[0]
    dense = [d - sparse + 1 for d in dims if d >= sparse]
    if dense:
        values = values.sum(dense)
    kept = [d for d in range(sparse) if d not in dims]
    if not kept:
        return values.sum(0)
    size = [n for d, n in enumerate(input.shape) if d not in dims]
    if values.dtype != input.dtype or not dense:
        values = values.to(_summed_dtype(input.dtype))
    if len(kept) == sparse:
        return coo.make(indices, values, size, True)
    return coo.coalesce(coo.make(indices[kept], values, size))


def _summed_dtype(dtype):
    if dtype.is_floating_point or dtype.is_complex:
        return dtype
    return hotaru.int64


@answers("norm", of=COO)
def norm(tensor: SparseTensor, p="fro", dim=None, keepdim=False, dtype=None):
    """The norm of all elements."""
    if dtype is not None and (p == "fro" or p is None):
        raise ValueError("dtype argument is not supported in frobenius norm")
    dims = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    check_whole(tensor, dims, keepdim, dtype)
    if p == "fro" or p is None:
        p = 2
    return values_of(coo.coalesce(tensor)).reshape(-1).norm(p)


@answers("any", of=COO)
def any_of(tensor: SparseTensor, *dim, **options) -> Tensor:
    """Tells whether an element is not zero."""
    if dim or options:
        raise unknown("any.dim", (tensor,), {})
    return parts_of(coo.coalesce(tensor)).values.any()


def _groups(tensor: SparseTensor, dim: int) -> tuple[Tensor, int]:
    """Which line along the sparse dimension each element is in, of how many."""
    indices = parts_of(tensor).index
    kept = [d for d in range(indices.shape[0]) if d != dim]
    size = [tensor.shape[d] for d in kept]
    flat = coo.flat_index(indices[kept], size)
    found, group = flat.unique(return_inverse=True)
    return group, found.shape[0]


def _largest(values: Tensor, group: Tensor, groups: int) -> Tensor:
    low = values.new_full((groups, *values.shape[1:]), float("-inf"))
    return low.index_reduce(0, group, values, "amax")


def _softened(tensor: SparseTensor, dim: int, dtype, log: bool):
    if dtype is not None:
        tensor = tensor.to(dtype)
    dim = wrap_dim(dim, tensor.dim())
    tensor = coo.coalesce(tensor)
    values, sparse = values_of(tensor), coo.sparse_dims(tensor)
    if dim >= sparse:
        function = hotaru.log_softmax if log else hotaru.softmax
        return with_values(tensor, function(values, dim - sparse + 1))
    if values.numel() == 0:
        return with_values(tensor, values.clone())
    group, groups = _groups(tensor, dim)
    lowered = values - _largest(values.detach(), group, groups)[group]
    powers = lowered.exp()
    sums = coo.summed(powers, group, groups)
    if log:
        return with_values(tensor, lowered - sums.log()[group])
    return with_values(tensor, powers / sums[group])


@answers("_sparse_softmax", of=COO)
def softmax(input: SparseTensor, dim: int, *, dtype=None) -> SparseTensor:
    """Softmax along a dimension of the elements that are kept: others count as
    minus infinity.
    """
    return _softened(input, dim, dtype, False)


@answers("_sparse_log_softmax", of=COO)
def log_softmax(input: SparseTensor, dim: int, *, dtype=None) -> SparseTensor:
    """The logarithm of `softmax`."""
    return _softened(input, dim, dtype, True)
