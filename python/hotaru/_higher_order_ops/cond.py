"""A branch: `torch.cond`, and its operator of flat operands."""

from __future__ import annotations

from .._functions.settings import cond
from ._operator import HigherOrderOperator

__all__ = ["cond", "cond_op"]


def _run(pred, true_fn, false_fn, operands):
    return (true_fn if pred else false_fn)(*operands)


#: cond(pred, true_fn, false_fn, operands): what the function gives.
cond_op = HigherOrderOperator("cond", _run, is_written=True)
