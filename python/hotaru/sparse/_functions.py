"""The functions of `torch.sparse` that are operators of sparse tensors."""

from __future__ import annotations

import functools

from .._C import Tensor
from ..autograd._jacobians import densified
from ._kind import SPARSE, unknown
from .compressed import reduce as compressed_reduce
from .tensor import SparseTensor, parts_of, with_values


def _ask(name: str, args: tuple, kwargs: dict):
    """Asks the handler of this name; `name` is that of errors."""

    def called(*args, **kwargs):
        raise unknown(name, args, kwargs)

    called.__name__ = name
    return SPARSE.answer(called, args, kwargs)


def sum(input: Tensor, dim=None, dtype=None) -> Tensor:
    """The sum of all elements, or over dimensions: strided if no dimension
    with indices is left, else sparse. The derivative is sparse, at the
    elements of `input`.
    """
    kwargs = {} if dtype is None else {"dtype": dtype}
    args = (input,) if dim is None else (input, dim)
    return _ask("_sparse_sum", args, kwargs)


def softmax(input: Tensor, dim: int, *, dtype=None) -> Tensor:
    """Softmax along a dimension, of the elements that are kept: others count
    as minus infinity. Computed in `dtype` where one is given.
    """
    return _ask("_sparse_softmax", (input, dim), {"dtype": dtype})


def log_softmax(input: Tensor, dim: int, *, dtype=None) -> Tensor:
    """The logarithm of `softmax`."""
    return _ask("_sparse_log_softmax", (input, dim), {"dtype": dtype})


def mm(mat1: Tensor, mat2: Tensor, reduce: str = "sum") -> Tensor:
    """The product of a sparse matrix and a strided or a sparse one: strided,
    or sparse. Derivatives of sparse ones are sparse, at their elements.

    Args:
        reduce: how the terms of an element are combined, other than "sum"
            for `sparse_csr` times strided alone: "mean", "amax" or "amin".
    """
    if reduce != "sum":
        return compressed_reduce.mm_reduce(mat1, mat2, reduce)
    return _ask("_sparse_mm", (mat1, mat2), {})


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1) -> Tensor:
    """Beta * input + alpha * (mat1 @ mat2), of which `mat1` is sparse."""
    return _ask("_sparse_addmm", (input, mat1, mat2), {"beta": beta, "alpha": alpha})


def as_sparse_gradcheck(gradcheck):
    """`gradcheck` for functions of sparse tensors, as one of their values: what
    is sparse of the results is compared as strided. Unless `masked`, inputs
    keep every element, so that the number of elements is the same at every
    step.
    """

    @functools.wraps(gradcheck)
    def checked(func, inputs, **options):
        inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
        masked = bool(options.get("masked"))
        if not masked:
            inputs = densified(inputs)

        def of_values(*args):
            args = (_rebuilt(a, t) for a, t in zip(args, inputs))
            return _strided(func(*args), masked)

        return gradcheck(of_values, tuple(map(_values, inputs)), **options)

    return checked


def _values(value):
    """Stands in for an input: a sparse tensor has its values instead."""
    if not isinstance(value, SparseTensor):
        return value
    values = parts_of(value).values.clone()
    return values.requires_grad_(value.requires_grad)


def _rebuilt(value, like):
    if not isinstance(like, SparseTensor):
        return value
    return with_values(like.detach(), value)


def _strided(result, masked: bool):
    if isinstance(result, (list, tuple)):
        return tuple(_strided(r, masked) for r in result)
    if isinstance(result, SparseTensor):
        return result.to_dense(masked_grad=masked)
    return result
