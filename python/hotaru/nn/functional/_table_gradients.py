"""Sparse gradients of tables: of the rows that were looked up alone.

They are in coordinates, (1, n) indices and (n, E) values, a row as often as it
was looked up: not coalesced.
"""

from __future__ import annotations

import hotaru

from ... import Tensor, no_grad, ops
from ...autograd import Function


def embedding(weight: Tensor, input: Tensor, row: int, scale: bool) -> Tensor:
    """Rows of `weight` at `input`; `row` gets no gradient, -1 for none."""
    if not _records(weight):
        return ops.embedding(weight, input, row, scale, False)
    return _Embedding.apply(weight, input, row, scale)


def embedding_bag(
    weight: Tensor,
    input: Tensor,
    offsets: Tensor,
    scale: bool,
    mode: int,
    factors: Tensor | None,
    last: bool,
    row: int | None,
) -> Tensor:
    """Sums (mode 0) or means (mode 1) of bags; arguments as the operator's."""
    if _records(weight):
        return _Bag.apply(weight, factors, input, offsets, scale, mode, last, row)
    return ops.embedding_bag(
        weight, input, offsets, scale, mode, False, factors, last, row
    )[0]


def _records(weight: Tensor) -> bool:
    return weight.requires_grad and hotaru.is_grad_enabled()


def _check_unscaled(scale: bool) -> None:
    if scale:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
        )


def _of_rows(each: Tensor, rows: Tensor, shape: tuple, row: int) -> Tensor:
    """The sparse gradient (V, E) of `each` (n, E), what flows to the `rows`
    (n,) that were looked up; none flows to `row`.
    """
    if row >= 0:
        counts = rows != row
        each, rows = each[counts], rows[counts]
    elif rows.dtype == hotaru.int64:
        rows = rows.clone()  # the caller may write into the look-ups
    return hotaru.sparse_coo_tensor(
        rows.unsqueeze(0), each, shape, check_invariants=False
    )


class _Embedding(Function):
    @staticmethod
    def forward(ctx, weight, input, row, scale):
        ctx.save_for_backward(input)
        ctx.save_for_forward(input)
        ctx.shape, ctx.row, ctx.scale = tuple(weight.shape), row, scale
        return ops.embedding(weight, input, row, scale, False)

    @staticmethod
    def jvp(ctx, weight, *_):
        (input,) = ctx.saved_tensors
        return ops.embedding(weight, input, -1, False, False)

    @staticmethod
    def backward(ctx, grad):
        _check_unscaled(ctx.scale)
        (input,) = ctx.saved_tensors
        rows = input.reshape(-1)
        # Own memory: others have `grad`, too, and its values may be written.
        each = grad.clone(memory_format=hotaru.contiguous_format)
        each = each.view(rows.shape[0], *ctx.shape[1:])
        found = _of_rows(each, rows, ctx.shape, ctx.row)
        return found, None, None, None


class _Bag(Function):
    @staticmethod
    def forward(ctx, weight, factors, input, offsets, scale, mode, last, row):
        ctx.shape, ctx.scale, ctx.mean = tuple(weight.shape), scale, mode == 1
        ctx.row = -1 if row is None else row % weight.shape[0]
        out, bag_of, sizes, _ = ops.embedding_bag(
            weight, input, offsets, scale, mode, False, factors, last, row
        )
        kept = weight if factors is not None else None
        ctx.save_for_backward(input, bag_of, sizes, factors, kept)
        return out

    @staticmethod
    def backward(ctx, grad):
        input, bag_of, sizes, factors, weight = ctx.saved_tensors
        needed = ctx.needs_input_grad
        each = _spread(grad, bag_of, sizes if ctx.mean else None)
        of_weight = of_factors = None
        if needed[0]:
            _check_unscaled(ctx.scale)
            scaled = each if factors is None else each * factors.unsqueeze(1)
            of_weight = _of_rows(scaled, input, ctx.shape, ctx.row)
        if factors is not None and needed[1]:
            of_factors = (each * weight.detach()[input]).sum(1)
            of_factors = of_factors.masked_fill(input == ctx.row, 0)
        return of_weight, of_factors, *[None] * 6


def _spread(grad: Tensor, bag_of: Tensor, sizes: Tensor | None) -> Tensor:
    """(n, E): what flows to each look-up, the gradient of its bag (B, E), of
    `sizes` rows if a mean is taken. None flows to those behind the last bag.
    """
    if sizes is not None:
        grad = grad / sizes.clamp(min=1).unsqueeze(1).to(grad.dtype)
    with no_grad():
        inside = bag_of < grad.shape[0]
        nowhere = not bool(inside.all())
    if nowhere:
        grad = hotaru.cat([grad, grad.new_zeros((1, grad.shape[1]))])
    return grad[bag_of]
