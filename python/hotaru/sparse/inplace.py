"""Writing into sparse tensors."""

from __future__ import annotations

from .. import _C
from .._answering.table import answers
from .._C import Tensor
from .._extension.dtypes import scalar_type, type_string
from .._tensor.refusals import check_written
from ..autograd import Function
from ._kind import ANY, unknown
from .tensor import SparseTensor, is_sparse, parts_of


def check_cast(dtype, out: Tensor) -> None:
    """Raises RuntimeError where the dtype has no place in that of `out`."""
    if not _C.can_cast(dtype, out.dtype):
        raise RuntimeError(
            f"result type {scalar_type(dtype)} can't be cast to the desired "
            f"output type {scalar_type(out.dtype)}"
        )


def assign(out: Tensor, result: Tensor, in_place: bool = False) -> Tensor:
    """Gives `out` the elements and the history of `result`, in its own dtype
    and layout; the shape of `result`, which must be its own if `in_place`.

    Raises RuntimeError for a leaf that requires gradients in grad mode, and
    where the dtype of `result` has no place in that of `out`.
    """
    if out is result:
        return out
    check_written(out)
    check_cast(result.dtype, out)
    if not is_sparse(out):
        if is_sparse(result):
            result = result.to_dense()
        if not in_place and out.shape != result.shape:
            out.resize_(result.shape)
        return out.copy_(result)
    if not is_sparse(result):
        result = result.to_sparse(layout=out.layout)
    if result.requires_grad and _C.is_grad_enabled():
        return _Written.apply(out, result)
    return replace(out, result)


class _Written(Function):
    """`out` as what `result` is: what it was before has no derivative."""

    @staticmethod
    def forward(ctx, out, result):
        ctx.dtype = result.dtype
        ctx.mark_dirty(out)
        return replace(out, result.detach())

    @staticmethod
    def backward(ctx, grad):
        return None, grad.to(ctx.dtype)


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


@answers("copy_", of=ANY)
def copy_(out: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """The elements of another sparse tensor of the shape, in the own dtype."""
    if not is_sparse(out) or not is_sparse(source):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! "
            f"Found self type = {type_string(out)} and src type = "
            f"{type_string(source)}"
        )
    check_written(out)
    if out.layout is not source.layout:
        raise unknown("copy_", (out, source), {})
    if out.shape != source.shape and _C._sparse_parts(source)[3].numel():
        raise RuntimeError(
            f"copy_: sizes {list(out.shape)} and {list(source.shape)} of "
            "sparse tensors differ, which are not broadcast"
        )
    return assign(out, source.clone().to(out.dtype))


@answers("zero_", of=ANY)
def zero_(tensor: SparseTensor) -> SparseTensor:
    """Without elements (of a compressed layout: of zeros)."""
    check_written(tensor)
    if tensor.is_sparse:
        from . import coo

        dims = coo.sparse_dims(tensor)
        none = coo.empty(tensor.shape, dims, dtype=tensor.dtype, device=tensor.device)
        return replace(tensor, none)
    parts_of(tensor).values.zero_()
    return tensor
