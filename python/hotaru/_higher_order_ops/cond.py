"""A branch: `torch.cond`, and its operator of flat operands."""

from __future__ import annotations

from .. import _C, Tensor
from .._functions.settings import traces
from ..utils import _pytree as pytree
from ._checks import check_specs, is_unknown
from ._operator import HigherOrderOperator

__all__ = ["cond", "cond_op"]

_FACTS = ("dtype", "device", "layout", "shape")


def cond(pred, true_fn, false_fn, operands=()):
    """One of two functions of the operands, by a truth value.

    Captured as a graph, it is the one that was called while capturing; a
    tensor that decides is read, which a capture refuses. Exported programs
    have both.
    """
    if not isinstance(pred, (bool, int, Tensor)) or (
        isinstance(pred, Tensor) and pred.numel() != 1
    ):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if not (callable(true_fn) and callable(false_fn)):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested "
            f"dict/list/tuple, but got {type(operands)}"
        )
    if traces:
        return traces[-1].higher_order("cond", pred, true_fn, false_fn, operands)
    if isinstance(pred, Tensor) and _C._answering_class(pred) is not Tensor:
        return choose(pred, true_fn, false_fn, operands)
    return (true_fn if pred else false_fn)(*operands)


def choose(pred, true_fn, false_fn, operands):
    """Calls the function that `pred` says. Of a tensor without values: what
    both give, which has to look the same.
    """
    if not is_unknown(pred):
        return (true_fn if pred else false_fn)(*operands)
    (first, spec), (second, other) = (
        pytree.tree_flatten(f(*operands)) for f in (true_fn, false_fn)
    )
    check_specs(spec, other)
    for a, b in zip(first, second):
        if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
            continue
        for name in _FACTS:
            x, y = getattr(a, name), getattr(b, name)
            if x != y:
                raise RuntimeError(
                    "When merging two branches' output in torch.cond, "
                    f"expected same {name} but got {x} and {y}."
                )
    return pytree.tree_unflatten(first, spec)


#: cond(pred, true_fn, false_fn, operands): what the function gives.
cond_op = HigherOrderOperator("cond", choose, is_written=True)
