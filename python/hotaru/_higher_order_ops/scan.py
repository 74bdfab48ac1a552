"""A function of each row and of what it gave for the row before."""

from __future__ import annotations

from .. import Tensor
from ..utils import _pytree as pytree
from ._checks import (
    check_same,
    check_scan,
    own_memory,
    refuse,
    row_count,
    stack_leaves,
    watched,
)
from ._dims import canonical_dim, check_leaves
from ._operator import HigherOrderOperator

__all__ = ["scan", "scan_op"]

_NAME = "torch.ops.higher_order.scan"


def _run(combine_fn, init, xs, additional_inputs):
    row_count(xs)
    count, carry, outs = len(init), list(init), []
    for row in zip(*(x.unbind(0) for x in xs)):
        given = combine_fn(*carry, *row, *additional_inputs)
        found = pytree.tree_leaves(given)
        carry = found[:count]
        outs.append(found[count:])
    return (*own_memory(carry, [*init, *xs]), *stack_leaves(outs))


#: scan(combine_fn, init, xs, additional_inputs): combine_fn(*carry, *row,
#: *additional_inputs) gives the next carry and then what is stacked.
scan_op = HigherOrderOperator("scan", _run, is_written=True)


def scan(combine_fn, init, xs, *, dim: int = 0, reverse: bool = False):
    """`carry, y = combine_fn(carry, x)` of each slice `x` of `xs`, in order.

    Returns the last carry, and the stacked y.

    Args:
        combine_fn: keeps shapes, dtypes and devices of the carry; y may be
            containers of tensors, and None stays None.
        init: the first carry: a tensor or a container of tensors.
        xs: the same. Without any tensor, (init, []) is returned.
        dim: along which xs are sliced and y stacked; a y of fewer dimensions
            is stacked along the first.
        reverse: from the last slice to the first.

    Raises:
        RuntimeError: arguments that don't fit.
        UncapturedHigherOrderOpError: a carry that differs from init, or
            combine_fn changes what it is given.
    """
    first, init_spec = pytree.tree_flatten(init)
    leaves, xs_spec = pytree.tree_flatten(xs)
    if not leaves:
        return init, []
    dim = canonical_dim(leaves[0].ndim, dim)
    _check(combine_fn, first, leaves, dim, reverse)
    rows = [x.movedim(dim, 0) if dim else x for x in leaves]
    if reverse:
        rows = [x.flip([0]) for x in rows]
    row_count(rows)
    count, specs = len(first), []

    def flat(*values):
        found = combine_fn(
            pytree.tree_unflatten(values[:count], init_spec),
            pytree.tree_unflatten(values[count:], xs_spec),
        )
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            refuse(
                _NAME,
                "torch.scan: improper combine_fn number of returns\n"
                "  Explanation: Expect combine_fn to return a tuple "
                f"(next_carry, y) but got {found}.",
            )
        (carry, carry_spec), (outs, spec) = map(pytree.tree_flatten, found)
        check_same(_NAME, first, carry, ("init", "carry"))
        specs[:] = carry_spec, spec
        return [*carry, *outs]

    found = scan_op(watched(_NAME, flat, [*first, *leaves]), first, rows, ())
    outs = [_moved(y, dim, reverse) for y in found[count:]]
    return (
        pytree.tree_unflatten(found[:count], specs[0]),
        pytree.tree_unflatten(outs, specs[1]),
    )


def _moved(y, dim: int, reverse: bool):
    """Stacked results as the slices lay in the arguments."""
    if y is None:
        return y
    if reverse:
        y = y.flip([0])
    return y.movedim(0, dim) if 0 < dim < y.ndim else y


def _check(combine_fn, init: list, xs: list, dim, reverse) -> None:
    check_scan(combine_fn, dim, reverse, RuntimeError)
    if not init:
        raise RuntimeError("scan() operator requires init leaves.")
    for what, given in (("init", init), ("xs", xs)):
        for x in given:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"All {what} leaves must be a Tensor but got {x}")
    check_leaves(xs, dim, RuntimeError)
