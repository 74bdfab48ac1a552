"""A function of each row."""

from __future__ import annotations

from .. import Tensor
from ..utils import _pytree as pytree
from ._checks import row_count, stack_trees, watched
from ._operator import HigherOrderOperator

__all__ = ["map", "map_impl"]


def _run(f, xs, pos_args):
    row_count(xs)
    rows = zip(*(x.unbind(0) for x in xs))
    return stack_trees([f(*row, *pos_args) for row in rows])


#: map_impl(f, xs, pos_args): f(*row, *pos_args) of each row of the tensors.
map_impl = HigherOrderOperator("map_impl", _run, is_written=True)


def map(f, xs, *args):
    """`f(row, *args)` of each row of `xs`; what the calls give is stacked.

    Args:
        f: returns tensors, or containers of them; None stays None.
        xs: a tensor or a container of tensors, with as many rows each.
        *args: what each call is given as it is.

    Raises:
        RuntimeError: xs have other leaves than tensors, have no rows, or not
            the same number of rows; what calls give can't be stacked.
        UncapturedHigherOrderOpError: f changes a row or an argument.
    """
    leaves, spec = pytree.tree_flatten(xs)
    if not all(isinstance(x, Tensor) for x in leaves):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    row_count(leaves)
    given, args_spec = pytree.tree_flatten(args)
    count = len(leaves)

    def flat(*values):
        row = pytree.tree_unflatten(values[:count], spec)
        return f(row, *pytree.tree_unflatten(values[count:], args_spec))

    tensors = [x for x in (*leaves, *given) if isinstance(x, Tensor)]
    run = watched("torch.ops.higher_order.map_impl", flat, tensors)
    return map_impl(run, leaves, given)
