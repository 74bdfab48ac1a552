"""Sums, products and quotients with tensors in the compressed layouts."""

from __future__ import annotations

import math

import hotaru

from ..._answering.table import answers
from ..._C import Tensor
from ..._tensor.refusals import check_written
from ...autograd import Function
from .. import (
    compressed,
    coo,
    pointwise,  # noqa: F401
)
from .._kind import ANY, CSX
from ..checks import check_mask
from ..inplace import assign
from ..tensor import (
    BLOCKED,
    COMPRESSED,
    SparseTensor,
    is_sparse,
    parts_of,
    values_of,
    with_values,
)
from .check import layout_text
from .convert import Entries, assemble, entries


def _is_number(x) -> bool:
    return not isinstance(x, Tensor) or (x.dim() == 0 and not is_sparse(x))


def _is_compressed(x) -> bool:
    return is_sparse(x) and x.layout in COMPRESSED


@answers("mul", of=CSX)
def mul(a: Tensor, b) -> SparseTensor:
    """The product with a number, or with a tensor of the same shape at the
    elements of the compressed factor (of the first, if both are).
    """
    from ..masks import values_at

    pair = (a, b)
    if not _is_compressed(a):
        a, b = b, a
    if _is_number(b):
        return _by_number(a, b, "mul")
    check_mask(b, a)
    if a.requires_grad or b.requires_grad:
        return _Product.apply(*pair)
    return with_values(a, values_of(a) * values_at(b, a))


class _Product(Function):
    """The product of two tensors; derivatives have the elements of the
    gradient, so that those are there that one of the two does not keep.
    """

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return mul(a.detach(), b.detach())

    @staticmethod
    def backward(ctx, grad):
        factors = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        for i, factor in enumerate(factors):
            if wanted[i] and not is_sparse(factor) and is_sparse(grad):
                raise RuntimeError(
                    "Function MulBackward0 returned an invalid gradient at "
                    f"index {i} - expected layout Strided but got "
                    f"{layout_text(grad.layout)}"
                )
        return tuple(
            grad * other.conj() if needed else None
            for needed, other in zip(wanted, factors[::-1])
        )


def _by_number(a: SparseTensor, b, name: str) -> SparseTensor:
    """Applies it to the values, whose dtype counts as with dimensions."""
    return with_values(a, getattr(values_of(a), name)(b))


@answers("mul_", of=CSX)
def mul_(a: Tensor, b) -> Tensor:
    """The product, in place; of a compressed tensor alone."""
    if not _is_compressed(a):
        raise RuntimeError("Expected result Tensor to be of format CSR")
    return assign(a, mul(a, b), in_place=True)


def _unsupported(tensor: Tensor) -> RuntimeError:
    kind = layout_text(tensor.layout)
    return RuntimeError(f"unsupported tensor layout: {kind}")


@answers("div", of=CSX)
def div(a: Tensor, b, *, rounding_mode: str | None = None) -> SparseTensor:
    """The quotient by a number; 0 / number is 0, so the elements tell all."""
    if not _is_compressed(a) or not _is_number(b):
        raise _unsupported(a if is_sparse(a) else b)
    values = hotaru.div(values_of(a), b, rounding_mode=rounding_mode)
    return with_values(a, values)


@answers("add", of=CSX)
def add(a: Tensor, b: Tensor, *, alpha=1) -> Tensor:
    """A + alpha * b of the same shape: strided if one of them is, else in the
    layout of `a`, with the elements of both.
    """
    if not isinstance(b, Tensor) or not isinstance(a, Tensor):
        sizes = [list(x.shape) if isinstance(x, Tensor) else [] for x in (a, b)]
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same size, but self has "
            f"size {sizes[1]} while other has size {sizes[0]} (FYI: op2-sparse "
            "addition does not currently support broadcasting)"
        )
    if not is_sparse(b):
        a, b = b, a  # alpha belongs to the sparse one, as in PyTorch
    if not is_sparse(a):
        return hotaru.add(a, b.to_dense(), alpha=alpha)
    if tuple(a.shape) != tuple(b.shape):
        raise RuntimeError(
            "torch.add: Expected input tensors to have the same shape, but got"
            f" tensor `self` with shape {list(a.shape)} and tensor `other` "
            f"with shape {list(b.shape)}"
        )
    if not _is_compressed(a):
        return hotaru.add(a, b.to_sparse_coo(), alpha=alpha)
    return _union(a, _as(b, a), alpha)


def _as(tensor: SparseTensor, other: SparseTensor) -> SparseTensor:
    """The tensor in the layout of `other`, in blocks of its size."""
    layout = other.layout
    block = compressed.block_size(other)
    if tensor.layout in BLOCKED and compressed.block_size(tensor) != block:
        tensor = tensor.to_sparse_coo()
    return tensor.to_sparse(layout=layout, blocksize=block)


def _same_pattern(a: SparseTensor, b: SparseTensor) -> bool:
    mine, other = parts_of(a), parts_of(b)
    return all(
        x is y or (x.shape == y.shape and bool((x == y).all()))
        for x, y in ((mine.index, other.index), (mine.inner, other.inner))
    )


def _union(a: SparseTensor, b: SparseTensor, alpha) -> SparseTensor:
    if _same_pattern(a, b):
        values = hotaru.add(values_of(a), values_of(b), alpha=alpha)
        return with_values(a, values)
    size, parts = tuple(a.shape), parts_of(a)
    lead = size[: parts.index.dim() - 1]
    block = compressed.block_size(a) or (1, 1)
    grid = compressed.grid_of(size, len(lead), block)
    both = [entries(x) for x in (a, b)]
    dtype = hotaru.result_type(both[0].values, both[1].values)
    terms = [x.values.flatten(0, 1).to(dtype) for x in both]
    places = [_places(x, grid) for x in both]
    found, group = hotaru.cat(places).unique(return_inverse=True)
    terms = hotaru.cat([terms[0], terms[1] * alpha])
    values = coo.summed(terms, group, found.shape[0])
    return _placed(found, values, a.layout, lead, size, grid, parts)


def _places(found: Entries, grid) -> Tensor:
    place = found.row * grid[1] + found.column
    batch = hotaru.arange(place.shape[0], device=place.device).unsqueeze(1)
    return (place + batch * (grid[0] * grid[1])).reshape(-1)


def _placed(found, values, layout, lead, size, grid, parts) -> SparseTensor:
    """A tensor of elements at sorted places among those of all batches."""
    count, area = math.prod(lead), grid[0] * grid[1]
    batch = found // max(area, 1)
    each = hotaru.bincount(batch, minlength=count)
    compressed.check_alike(each)
    place = (found % max(area, 1)).reshape(count, found.shape[0] // max(count, 1))
    made = Entries(
        place // max(grid[1], 1),
        place % max(grid[1], 1),
        values.reshape(*place.shape, *values.shape[1:]),
    )
    return assemble(made, layout, lead, size, parts.index.dtype)


@answers("sub", of=CSX)
def sub(a: Tensor, b: Tensor, *, alpha=1) -> Tensor:
    """A - alpha * b, as `add` gives it."""
    return add(a, b, alpha=-alpha)


@answers("rsub", "__rsub__", of=CSX)
def rsub(a: Tensor, b: Tensor) -> Tensor:
    """B - a."""
    return sub(b, a)


def _in_place(name: str, function) -> None:
    def written(a: Tensor, *args, **kwargs) -> Tensor:
        made = function(a, *args, **kwargs)
        if is_sparse(a) and not is_sparse(made):
            raise RuntimeError(
                f"Sparse {layout_text(a.layout)[-3:].upper()} tensors do not "
                "have is_contiguous"
            )
        return assign(a, made, in_place=True)

    answers(name, of=CSX)(written)


for _name, _function in (("add_", add), ("sub_", sub), ("div_", div)):
    _in_place(_name, _function)


@answers("abs_", of=CSX)
def abs_(tensor: SparseTensor) -> SparseTensor:
    """Absolute values, in place; of real numbers alone."""
    if tensor.is_complex():
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return assign(tensor, ANY["abs"](tensor), in_place=True)


@answers("fill_", of=CSX)
def fill_(tensor: SparseTensor, value) -> SparseTensor:
    """The elements that it keeps become `value`, in place."""
    check_written(tensor)
    parts_of(tensor).values.fill_(value)
    return tensor


@answers("normal_", of=CSX)
def normal_(tensor: SparseTensor, *args, **kwargs) -> SparseTensor:
    """The elements that it keeps become random, in place."""
    check_written(tensor)
    parts_of(tensor).values.normal_(*args, **kwargs)
    return tensor


def _refused(name: str):
    def refuse(*args, **kwargs):
        first = next(x for x in (*args, *kwargs.values()) if _is_compressed(x))
        raise _unsupported(first)

    answers(name, of=CSX)(refuse)


for _name in [
    "atan2",
    "cos",
    "cosh",
    "eq",
    "exp",
    "fmod",
    "ge",
    "gt",
    "isfinite",
    "le",
    "log",
    "lt",
    "maximum",
    "minimum",
    "ne",
    "pow",
    "reciprocal",
    "remainder",
    "sigmoid",
    "square",
    "__rpow__",
    "__rtruediv__",
]:
    _refused(_name)
