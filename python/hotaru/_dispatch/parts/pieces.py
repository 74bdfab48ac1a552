"""Elements of tensors: shifts, choices, orders, comparisons of numbers."""

from __future__ import annotations

from ... import _C, result_type
from ..._C import Tensor
from .table import o, part


def number(value, like: Tensor, dtype) -> Tensor:
    """A number as a tensor on the device of another."""
    return o.scalar_tensor(value, dtype=dtype, layout=_C.strided, device=like.device)


@part("where.ScalarOther")
def _where_other(condition, self, other):
    kind = result_type(self, other)
    return o("where.self", condition, self, number(other, condition, kind))


@part("where.ScalarSelf")
def _where_self(condition, self, other):
    kind = result_type(other, self)
    return o("where.self", condition, number(self, condition, kind), other)


@part("where.Scalar")
def _where_both(condition, self, other):
    kind = result_type(self, other)
    return o(
        "where.self",
        condition,
        number(self, condition, kind),
        number(other, condition, kind),
    )


@part("argsort", "argsort.default")
def _argsort(self, dim=-1, descending=False):
    return o.sort(self, dim, descending)[1]


@part("argsort.stable")
def _argsort_stable(self, *, stable, dim=-1, descending=False):
    return o("sort.stable", self, stable=stable, dim=dim, descending=descending)[1]


@part("msort")
def _msort(self, *, out=None):
    if out is None:
        return o.sort(self, 0)[0]
    places = empty(self, [0], _C.int64)
    return o("sort.values", self, 0, values=out, indices=places)[0]


@part("empty.out")
def _empty_out(size, *, memory_format=None, out):
    return o.resize_(out, list(size))


@part("randn.out")
def _randn_out(size, *, out):
    return o.normal_(o.resize_(out, list(size)))


def empty(like: Tensor, size: list[int], dtype) -> Tensor:
    """Memory for a result, beside a tensor."""
    return o(
        "empty.memory_format", size, dtype=dtype, layout=_C.strided, device=like.device
    )
