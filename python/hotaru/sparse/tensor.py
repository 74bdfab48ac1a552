"""The class of sparse tensors, and how their parts are reached."""

from __future__ import annotations

from typing import NamedTuple

from .. import _C
from .._answering.base import Answering, Hidden
from .._C import Tensor
from .._late import lent
from ..autograd import Function
from ..autograd.forward_ad import refuse_tangents
from ._kind import SPARSE

COMPRESSED = (_C.sparse_csr, _C.sparse_csc, _C.sparse_bsr, _C.sparse_bsc)
BLOCKED = (_C.sparse_bsr, _C.sparse_bsc)
BY_ROWS = (_C.sparse_csr, _C.sparse_bsr)


class Parts(NamedTuple):
    """Parts of a sparse tensor.

    Of `sparse_coo`, `index` is (sparse_dim, nnz) and `inner` None. Of the
    compressed layouts `index` says where rows (columns) begin, and `inner` the
    columns (rows) of the elements or blocks. `values` are (nnz, dense...) or
    (batch..., nnz, [block], dense...).
    """

    layout: object
    index: Tensor
    inner: Tensor | None
    values: Tensor


class SparseTensor(Answering, of=SPARSE, metaclass=Hidden):
    """A tensor in one of the layouts `sparse_coo`, `sparse_csr`, `sparse_csc`,
    `sparse_bsr` and `sparse_bsc`.

    Made by `sparse_coo_tensor` and its relatives and by `to_sparse`. Operators
    that know the layout take it; others raise NotImplementedError. Derivatives
    are those of the values, by the operators that made them.
    """

    @property
    def _base(self) -> SparseTensor | None:
        """Tensor whose values these are, of a transposed one."""
        return self.__dict__.get("view_of")

    @property
    def layout(self):
        """How its elements are kept."""
        return parts_of(self).layout

    @property
    def is_sparse(self) -> bool:
        """True if the layout is `sparse_coo`."""
        return self.layout is _C.sparse_coo

    @property
    def is_sparse_csr(self) -> bool:
        """True if the layout is `sparse_csr`."""
        return self.layout is _C.sparse_csr

    def __repr__(self, *, tensor_contents=None) -> str:
        return lent("text_of_sparse")(self)

    __str__ = __repr__

    def __reduce_ex__(self, protocol):
        return lent("reduce_sparse")(self)

    def _copied(self) -> SparseTensor:
        return lent("copied_sparse")(self)


SparseTensor._beside = (SparseTensor, _C._SparseLayout)
_C._hide_class(SparseTensor)
_C._set_sparse_type(SparseTensor)


def is_sparse(x) -> bool:
    """Tells whether it is a tensor in a sparse layout."""
    return isinstance(x, SparseTensor)


def parts_of(tensor: SparseTensor) -> Parts:
    """Its parts, without history."""
    return Parts(*_C._sparse_parts(tensor))


def build(parts: Parts, size, coalesced: bool = False) -> SparseTensor:
    """The sparse tensor of these parts, which are not checked. With the
    history of the values.
    """
    size = tuple(size)
    refuse_tangents("sparse", parts.values)
    if parts.values.requires_grad and _C.is_grad_enabled():
        return _FromValues.apply(parts.values, parts, size, coalesced)
    return _plain(parts._replace(values=parts.values.detach()), size, coalesced)


def _plain(parts: Parts, size: tuple, coalesced: bool) -> SparseTensor:
    return _C._sparse_tensor(
        parts.layout, size, parts.index, parts.inner, parts.values, coalesced
    )


def values_of(tensor: SparseTensor) -> Tensor:
    """Its values, with its history: their gradient becomes a sparse one."""
    if tensor.requires_grad and _C.is_grad_enabled():
        return _Values.apply(tensor)
    return parts_of(tensor).values


def with_values(tensor: SparseTensor, values: Tensor, size=None) -> SparseTensor:
    """Other values, with their history, at the same indices."""
    parts = parts_of(tensor)._replace(values=values)
    coalesced = parts.inner is None and _C._sparse_coalesced(tensor)
    return build(parts, tensor.shape if size is None else size, coalesced)


class _Values(Function):
    @staticmethod
    def forward(ctx, tensor):
        ctx.pattern = tensor.detach()
        return parts_of(tensor).values.view_as(parts_of(tensor).values)

    @staticmethod
    def backward(ctx, grad):
        parts = parts_of(ctx.pattern)
        if parts.inner is not None or _C._sparse_coalesced(ctx.pattern):
            return with_values(ctx.pattern, grad)
        # Elements with the same indices are one: so is their derivative.
        return lent("each_once")(ctx.pattern, grad)


class _FromValues(Function):
    @staticmethod
    def forward(ctx, values, parts, size, coalesced):
        # Values that are kept have no history: `detach` shares it.
        parts = parts._replace(values=values.detach())
        ctx.pattern = _plain(parts, size, coalesced)
        return ctx.pattern.detach()

    @staticmethod
    def backward(ctx, grad):
        return lent("values_at")(grad, ctx.pattern), None, None, None
