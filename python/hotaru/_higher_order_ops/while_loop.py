"""A function again and again, while another one says so."""

from __future__ import annotations

from .. import Tensor
from .. import bool as bool_dtype
from ..utils import _pytree as pytree
from ._checks import check_same, is_unknown, own_memory, watched
from ._operator import HigherOrderOperator

__all__ = ["while_loop", "while_loop_op"]

_NAME = "torch.while_loop"


def _run(cond_fn, body_fn, carried_inputs, additional_inputs):
    carried = tuple(carried_inputs)
    while True:
        pred = cond_fn(*carried, *additional_inputs)
        unknown = is_unknown(pred)
        if not unknown and not _holds(pred):
            break
        found = body_fn(*carried, *additional_inputs)
        if not isinstance(found, tuple):
            raise AssertionError(f"body_fn should return a tuple but got {type(found)}")
        if len(found) != len(carried):
            raise AssertionError(
                "body_fn should return the same number of elements as "
                f"carried_inputs, got {len(found)} vs {len(carried)}"
            )
        carried = found
        if unknown:  # a round looks like all of them
            break
    return tuple(own_memory(carried, [*carried_inputs, *additional_inputs]))


def _holds(pred) -> bool:
    """Reads what a condition says; RuntimeError where it is no truth value."""
    if isinstance(pred, Tensor):
        fits = pred.ndim == 0 and pred.dtype is bool_dtype
    else:
        fits = isinstance(pred, bool)
    if not fits:
        raise RuntimeError(
            f"cond_fn must return a boolean scalar tensor or a boolean but got {pred}"
        )
    return bool(pred)


#: while_loop(cond_fn, body_fn, carried_inputs, additional_inputs): both take
#: *carried, *additional_inputs; body_fn gives the next carried.
while_loop_op = HigherOrderOperator("while_loop", _run, is_written=True)


def while_loop(cond_fn, body_fn, carried_inputs):
    """`carried = body_fn(*carried)` while `cond_fn(*carried)`.

    Args:
        cond_fn: gives a bool, or a tensor of one without dimensions.
        body_fn: keeps shapes, dtypes and devices of what is carried.
        carried_inputs: a tuple of tensors, integers, or containers of them.

    Returns what body_fn gave last, in its containers; copies of
    carried_inputs where it was not called.

    Raises:
        AssertionError: other leaves than tensors and integers.
        RuntimeError: arguments or conditions that don't fit.
        UncapturedHigherOrderOpError: carried values differ from those before,
            or a function changes what it is given.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(
            f"carried_inputs must be a tuple or list but got {type(carried_inputs)}"
        )
    leaves, spec = pytree.tree_flatten(carried_inputs)
    _check_types(leaves)
    specs = [spec]

    def flat_cond(*values):
        return cond_fn(*pytree.tree_unflatten(values, spec))

    def flat_body(*values):
        found = body_fn(*pytree.tree_unflatten(values, spec))
        carried, specs[0] = pytree.tree_flatten(found)
        names = "body_fn_output", "carried_inputs"
        check_same(_NAME, carried, leaves, names)
        return tuple(carried)

    tensors = [x for x in leaves if isinstance(x, Tensor)]
    run = [watched(_NAME, f, tensors) for f in (flat_cond, flat_body)]
    found = while_loop_op(*run, tuple(leaves), ())
    return pytree.tree_unflatten(found, specs[0])


def _check_types(leaves: list) -> None:
    if all(isinstance(x, (Tensor, int)) for x in leaves):
        return
    from .. import SymInt

    if not all(isinstance(x, (Tensor, int, SymInt)) for x in leaves):
        raise AssertionError(
            f"{leaves} can only be of {(Tensor, int, SymInt)} but got "
            f"{tuple(map(type, leaves))}"
        )
