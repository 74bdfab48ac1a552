"""A function of pairs whose order of application does not matter."""

from __future__ import annotations

from .. import Tensor, cat
from ..utils import _pytree as pytree
from ._checks import check_scan
from ._dims import canonical_dim, check_leaves
from ._operator import HigherOrderOperator

__all__ = ["associative_scan", "associative_scan_op"]

_GPUS = ("cuda", "xpu")


def _run(combine_fn, xs, additional_inputs):
    def combine(left: list, right: list) -> list:
        return pytree.tree_leaves(combine_fn(*left, *right, *additional_inputs))

    return _scanned(combine, list(xs))


def _scanned(combine, xs: list) -> list:
    """Combines all rows up to each one: pairs first, and of those the same
    again, so rows next to each other meet in as many rounds as their number
    has digits.
    """
    count = xs[0].shape[0]
    if count < 2:
        return xs
    pairs = combine([x[:-1:2] for x in xs], [x[1::2] for x in xs])
    odd = _scanned(combine, pairs)  # up to rows 1, 3, ...
    before = odd if count % 2 else [x[:-1] for x in odd]
    first = [x[:1] for x in xs]
    even = first
    if count > 2:
        rest = combine(before, [x[2::2] for x in xs])
        even = [cat([x, y]) for x, y in zip(first, rest)]
    return [_interleaved(x, y) for x, y in zip(even, odd)]


def _interleaved(even: Tensor, odd: Tensor) -> Tensor:
    """The rows of both in turn; the first may have one more."""
    count = odd.shape[0]
    both = cat([even[:count, None], odd[:, None]], 1).flatten(0, 1)
    return cat([both, even[count:]]) if even.shape[0] > count else both


#: associative_scan(combine_fn, xs, additional_inputs): combine_fn(*left,
#: *right, *additional_inputs) of many rows at a time.
associative_scan_op = HigherOrderOperator("associative_scan", _run)


def associative_scan(
    combine_fn, xs, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
):
    """Combines by `combine_fn` all slices up to each one.

    Args:
        combine_fn: of two slices, as containers like xs; gives a third.
            `combine_fn(combine_fn(a, b), c)` has to be
            `combine_fn(a, combine_fn(b, c))`.
        xs: a tensor or a container of tensors.
        dim: along which xs are sliced, and the results lie.
        reverse: of all slices from each one on.
        combine_mode: "pointwise" where combine_fn treats elements alone: it is
            called with many slices at once. Tensors have to be on a GPU then.
            "generic" otherwise.

    Raises:
        ValueError: arguments that don't fit.
        RuntimeError: reverse is no bool.
    """
    leaves, spec = pytree.tree_flatten(xs)
    dim = canonical_dim(leaves[0].ndim, dim)
    _check(combine_fn, leaves, dim, reverse, combine_mode)
    rows = [x.movedim(dim, 0) for x in leaves]
    if reverse:
        rows = [x.flip([0]) for x in rows]
    if combine_mode == "generic":
        from ..func import vmap

        # Random numbers have no order of application that does not matter;
        # to refuse them is to ask for a generator's state, which no graph can.
        combine_fn = vmap(combine_fn, randomness="different")
    count = len(leaves)

    def flat(*values):
        if len(values) != 2 * count:
            raise AssertionError(
                "Combine_fn received wrong number of arguments, expected "
                f"{2 * count}, but got {len(values)}"
            )
        return combine_fn(
            pytree.tree_unflatten(values[:count], spec),
            pytree.tree_unflatten(values[count:], spec),
        )

    outs = associative_scan_op(flat, rows, ())
    if len(outs) != count:
        raise AssertionError(
            f"Combine_fn should return {count} tensors, but gave {len(outs)}"
        )
    if reverse:
        outs = [x.flip([0]) for x in outs]
    return pytree.tree_unflatten([x.movedim(0, dim) for x in outs], spec)


def _check(combine_fn, xs: list, dim, reverse, mode) -> None:
    check_scan(combine_fn, dim, reverse, ValueError)
    if mode not in ("pointwise", "generic"):
        raise ValueError(
            f"Combine_mode must either 'pointwise' or 'generic', but got {mode}"
        )
    if any(not isinstance(x, Tensor) for x in xs):
        raise ValueError("xs leaves must be a Tensor")
    if mode == "pointwise" and any(x.device.type not in _GPUS for x in xs):
        raise ValueError(
            "For combine_mode='pointwise', all input tensors need to be on CUDA or XPU"
        )
    if any(x.is_sparse for x in xs):
        raise ValueError("xs leaves must dense Tensors, consider using `to_dense()`")
    check_leaves(xs, dim, ValueError)
