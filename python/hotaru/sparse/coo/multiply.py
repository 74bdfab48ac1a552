"""Products, quotients and powers, by elements, of tensors in coordinates."""

from __future__ import annotations

import hotaru

from ..._answering.table import answers
from ..._C import Tensor
from .. import coo
from .._kind import COO, unknown
from ..history import linear
from ..tensor import SparseTensor, is_sparse, parts_of, values_of, with_values
from .shape import _sparse_broadcast_to


@answers("mul", of=COO)
def mul(a, b) -> SparseTensor:
    """The product with a number, with a strided tensor (shapes broadcast), or
    with one in coordinates of the same sparse sizes (dense ones broadcast).
    """
    if not is_sparse(a):
        a, b = b, a
    if not isinstance(b, Tensor):
        return _by_number(a, b)
    if b.dim() == 0 and not is_sparse(b):
        return with_values(a, values_of(a) * b)
    if not is_sparse(b):
        return _with_strided(a, b)
    if a.dim() == 0 and b.dim() == 0:
        return _without_dimensions(a, b)
    if b.dim() == 0:
        return with_values(a, values_of(a) * coo.to_dense(b))
    if a.dim() == 0:
        return with_values(b, values_of(b) * coo.to_dense(a))
    return _of_both(a, b)


def _without_dimensions(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    dtype = hotaru.promote_types(a.dtype, b.dtype)
    if a._nnz() == 1:
        a, b = b, a
    return with_values(a, values_of(a).to(dtype) * coo.to_dense(b).to(dtype))


def _by_number(a: SparseTensor, b) -> SparseTensor:
    kind = a.dtype
    factor = b.conjugate() if isinstance(b, complex) else b
    return linear(
        lambda x: with_values(x, parts_of(x).values * b),
        lambda g: (g * factor).to(kind),
        a,
    )


def _with_strided(a: SparseTensor, b: Tensor) -> SparseTensor:
    shape = hotaru.broadcast_shapes(a.shape, b.shape)
    if tuple(a.shape) != tuple(shape):
        a = _sparse_broadcast_to(a, shape)
    b = b.reshape((1,) * (len(shape) - b.dim()) + tuple(b.shape))
    indices, values = parts_of(a).index, values_of(a)
    found = b
    if indices.shape[0]:
        found = b[
            tuple(
                row if b.shape[d] != 1 else hotaru.zeros_like(row)
                for d, row in enumerate(indices)
            )
        ]
    return with_values(a, values * found)


def _of_both(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    sparse = coo.sparse_dims(a)
    if (
        a.dim() != b.dim()
        or sparse != coo.sparse_dims(b)
        or tuple(a.shape)[:sparse] != tuple(b.shape)[:sparse]
    ):
        raise RuntimeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with "
            "equal dimensionality, number of sparse dimensions, and shape of "
            "sparse dimensions"
        )
    a, b = coo.coalesce(a), coo.coalesce(b)
    if b._nnz() < a._nnz():
        a, b = b, a
    shape = hotaru.broadcast_shapes(a.shape, b.shape)
    mine, others = (coo.flat_index(parts_of(x).index, tuple(shape)) for x in (a, b))
    asked, place = coo.matches(others, mine)
    values = values_of(a)[asked] * values_of(b)[place]
    indices = parts_of(a).index.index_select(1, asked)
    return coo.make(indices, values, shape, True)


def _divisor(b, what: str):
    if isinstance(b, Tensor) and (is_sparse(b) or b.dim()):
        raise RuntimeError(
            f"Sparse {what} requires a scalar or zero-dim dense tensor divisor "
            f"(got shape {list(b.shape)} for divisor)"
        )
    return b


@answers("div", "divide", "true_divide", of=COO)
def div(a: Tensor, b, *, rounding_mode=None) -> SparseTensor:
    """The quotient by a number or a strided tensor without dimensions."""
    b = _divisor(b, "division")
    if rounding_mode is not None:
        a = coo.coalesce(a)
    return with_values(a, values_of(a).div(b, rounding_mode=rounding_mode))


@answers("floor_divide", of=COO)
def floor_divide(a: Tensor, b) -> SparseTensor:
    """The quotient rounded down."""
    b = _divisor(b, "floor division")
    a = coo.coalesce(a)
    return with_values(a, hotaru.floor_divide(values_of(a), b))


@answers("pow", of=COO)
def power(a: Tensor, exponent) -> SparseTensor:
    """The elements to the power of a number other than 0."""
    if isinstance(exponent, Tensor) or not is_sparse(a):
        raise unknown("pow", (a, exponent), {})
    if exponent == 0:
        raise RuntimeError(
            "pow: cannot raise to zeroth power on sparse tensor; it would make "
            "the result tensor dense"
        )
    a = coo.coalesce(a)
    return with_values(a, values_of(a) ** exponent)
