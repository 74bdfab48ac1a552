"""Masked reductions."""

from __future__ import annotations

import math

from .. import _C
from .._C import Tensor, ops
from ._identity import broadcast, dims, filled, highest, lowest, parts


def _sum(input, over, keepdim, dtype=None) -> Tensor:
    """A sum over listed dimensions, where none are none."""
    if not over:
        return input.to(dtype or input.dtype)
    return ops.sum(input, over, keepdim, dtype=dtype)


def _of_sparse(name, input, mask, over, keepdim, dtype, identity) -> Tensor:
    """The same of an input in a sparse layout."""
    from . import _sparse

    input, mask = parts(input, mask)
    return _sparse.reduce(name, input, mask, over, bool(keepdim), dtype, identity)


def _whole(dtype) -> bool:
    return not (dtype.is_floating_point or dtype.is_complex)


def sum(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """The sum; that of integers is int64."""
    if dtype is None:
        dtype = _C.int64 if _whole(input.dtype) else input.dtype
    over = dims(dim, input)
    if input.layout is not _C.strided:
        return _of_sparse("sum", input, mask, over, keepdim, dtype, lambda: 0)
    return _sum(filled(input, mask, 0), over, bool(keepdim), dtype)


def prod(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """The product; that of integers is int64."""
    if dtype is None:
        dtype = _C.int64 if _whole(input.dtype) else input.dtype
    over = dims(dim, input)
    if input.layout is not _C.strided:
        return _of_sparse("prod", input, mask, over, keepdim, dtype, lambda: 1)
    found = filled(input, mask, 1)
    for one in reversed(over):
        found = ops.prod(found, one, bool(keepdim), dtype=dtype)
    return found.to(dtype)


def amax(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """The greatest element."""
    return _extreme("amax", lowest, input, dim, keepdim, dtype, mask)


def amin(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """The smallest element."""
    return _extreme("amin", highest, input, dim, keepdim, dtype, mask)


def _extreme(name: str, farthest, input: Tensor, dim, keepdim, dtype, mask):
    """`amax` or `amin`; `farthest` is what any element stands before."""
    dtype = dtype or input.dtype
    over = dims(dim, input)

    def identity():
        return farthest(input, name)

    if input.layout is not _C.strided:
        return _of_sparse(name, input, mask, over, keepdim, dtype, identity)
    given = filled(input, mask, identity)
    return getattr(ops, name)(given, over, bool(keepdim)).to(dtype)


def argmax(
    input: Tensor, dim: int | None = None, *, keepdim=False, dtype=None, mask=None
) -> Tensor:
    """Where the greatest element is, as a number of the input's dtype."""
    given = filled(input, mask, lambda: lowest(input, "argmax"))
    found = ops.argmax(given, dim, bool(keepdim))
    return found.to(dtype or input.dtype)


def argmin(
    input: Tensor, dim: int | None = None, *, keepdim=False, dtype=None, mask=None
) -> Tensor:
    """Where the smallest element is, as a number of the input's dtype."""
    given = filled(input, mask, lambda: highest(input, "argmin"))
    found = ops.argmin(given, dim, bool(keepdim))
    return found.to(dtype or input.dtype)


def logsumexp(
    input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None
) -> Tensor:
    """The logarithm of the sum of exponentials."""
    given = filled(
        input,
        mask,
        lambda: -math.inf if input.is_complex() else lowest(input, "logsumexp"),
    )
    found = ops.logsumexp(given, dims(dim, input), bool(keepdim))
    return found.to(dtype or input.dtype)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype=None, input_mask=None, other_mask=None
) -> Tensor:
    """log(exp(input) + exp(other)), each of them with a mask of its own."""
    first = filled(input, input_mask, lambda: lowest(input, "logaddexp"))
    second = filled(other, other_mask, lambda: lowest(other, "logaddexp"))
    return ops.logaddexp(first, second).to(dtype or input.dtype)


def norm(
    input: Tensor, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None
) -> Tensor:
    """The vector norm of order `ord`."""
    least = ord == -math.inf and not _whole(input.dtype)
    given = filled(input, mask, math.inf if least else 0)
    over = dims(dim, input)
    return ops.linalg_vector_norm(given, ord, over, bool(keepdim), dtype=dtype)


def median(
    input: Tensor, dim: int = -1, *, keepdim=False, dtype=None, mask=None
) -> Tensor:
    """The lower one of the two elements in the middle.

    Raises ValueError where a mask lets nothing through and the input's dtype
    has no NaN.
    """
    input, mask = parts(input, mask)
    over = dims(dim, input)
    one = over[0] if over else 0
    if input.dtype.is_floating_point:
        given = filled(input, mask, math.nan)
        return ops.nanmedian(given, one, bool(keepdim))[0]
    through = mask is None or bool(broadcast(mask, input).any(one).all())
    if not through:
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not "
            "floating point"
        )
    given = filled(input.to(_C.get_default_dtype()), mask, math.nan)
    return ops.nanmedian(given, one, bool(keepdim))[0].to(input.dtype)


def _count(input, over, mask) -> Tensor:
    """How many elements count, over dimensions that are kept."""
    if mask is None:
        ones = ops.ones((), dtype=_C.int64, device=input.device)
        return _sum(ones.expand(input.shape), over, True)
    return _sum(broadcast(mask, input).to(_C.int64), over, True)


def _squeezed(x: Tensor, over, keepdim) -> Tensor:
    return x if keepdim or not over else x.squeeze(tuple(over))


def mean(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """The mean.

    Raises ValueError for integers without a dtype.
    """
    if dtype is None:
        dtype = input.dtype
        if _whole(dtype):
            raise ValueError(
                "mean(): Could not infer output dtype. Input dtype must be "
                f"either a floating point or complex dtype. Got: {input.dtype}"
            )
    input, mask = parts(input, mask)
    over = dims(dim, input)
    if input.layout is not _C.strided:
        return _of_sparse("mean", input, mask, over, keepdim, dtype, lambda: 0)
    total = _sum(filled(input, mask, 0), over, True, dtype)
    found = total / _count(input, over, mask)
    return _squeezed(found, over, keepdim).to(dtype)


def _variance(input, dim, unbiased, correction, keepdim, dtype, mask, root):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if unbiased is not None:
        correction = int(bool(unbiased))
    elif correction is None:
        correction = 1
    if dtype is None:
        dtype = _C.float32 if _whole(input.dtype) else input.dtype
    work = _C.float32 if _whole(dtype) else dtype
    input, mask = parts(input, mask)
    over = dims(dim, input)
    count = _count(input, over, mask)
    middle = _sum(filled(input, mask, 0), over, True, work) / count
    apart = input - middle
    total = _sum(filled(apart * apart.conj(), mask, 0), over, True, work)
    rest = (count - correction).clamp(min=0)
    found = total / rest
    found = found.sqrt() if root else found
    return _squeezed(found, over, keepdim).to(dtype)


def var(
    input: Tensor,
    dim=None,
    unbiased=None,
    *,
    correction=None,
    keepdim=False,
    dtype=None,
    mask=None,
) -> Tensor:
    """The variance, divided by the count less `correction`, by default 1."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask, False)


def std(
    input: Tensor,
    dim=None,
    unbiased=None,
    *,
    correction=None,
    keepdim=False,
    dtype=None,
    mask=None,
) -> Tensor:
    """The square root of the variance."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask, True)
