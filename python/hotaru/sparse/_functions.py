"""The functions of `torch.sparse` that are operators of sparse tensors."""

from __future__ import annotations

import functools

from .._C import Tensor
from . import _answers
from ._answers import answer


def _ask(name: str, args: tuple, kwargs: dict):
    """What the handler of this name answers; `name` is that of errors."""

    def called(*args, **kwargs):
        raise _answers.unknown(name, args, kwargs)

    called.__name__ = name
    return answer(called, args, kwargs)


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
    """
    if reduce != "sum":
        raise _answers.unknown("_sparse_mm_reduce_impl", (mat1, mat2), {})
    return _ask("_sparse_mm", (mat1, mat2), {})


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2), of which `mat1` is sparse."""
    return _ask(
        "_sparse_addmm", (input, mat1, mat2), {"beta": beta, "alpha": alpha}
    )


def as_sparse_gradcheck(gradcheck):
    """`gradcheck` of functions of sparse tensors, made such that the function
    it is given takes strided values and gives strided results.

    As it handles sparse tensors itself, that is itself.
    """

    @functools.wraps(gradcheck)
    def checked(func, inputs, **options):
        return gradcheck(func, inputs, **options)

    return checked
