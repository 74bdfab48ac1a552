"""Collectives as functions: they return what each process receives.

In a world of one process that is what it gave, so that a gradient goes back
unchanged, too.
"""

from __future__ import annotations

from .. import collectives
from ..groups import ReduceOp, group, is_member

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]


def _received(tensor, group):
    """The same values as a tensor of its own, which the graph knows."""
    is_member(group)
    return tensor.clone()


def broadcast(tensor, src, group=group.WORLD):
    """What process `src` gave."""
    collectives._root(group, src, None, "src")
    return _received(tensor, group)


def gather(tensor, dst=0, group=group.WORLD):
    """What every process gave, as a tuple."""
    collectives._root(group, dst, None, "dst")
    return (_received(tensor, group),)


def scatter(tensors, src=0, group=group.WORLD):
    """This process's tensor of those that `src` gave."""
    collectives._root(group, src, None, "src")
    return _received(collectives._one(tensors, "scatter"), group)


def reduce(tensor, dst, op=ReduceOp.SUM, group=group.WORLD):
    """The reduction over the processes."""
    collectives._root(group, dst, None, "dst")
    return _received(tensor, group)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=group.WORLD):
    """This process's part of the reduction."""
    return _received(collectives._one(input_list, "reduce_scatter"), group)


def all_gather(tensor, group=group.WORLD):
    """What every process gave, as a tuple."""
    return (_received(tensor, group),)


def all_to_all(output_tensor_list, input_tensor_list, group=group.WORLD):
    """What every process gave to this one, as a tuple."""
    collectives._one(output_tensor_list, "all_to_all")
    given = collectives._one(input_tensor_list, "all_to_all")
    return (_received(given, group),)


def all_to_all_single(
    output,
    input,
    output_split_sizes=None,
    input_split_sizes=None,
    group=group.WORLD,
):
    """The parts that every process gave to this one, as one tensor."""
    return _received(input, group)


def all_reduce(tensor, op=ReduceOp.SUM, group=group.WORLD):
    """The reduction over the processes."""
    return _received(tensor, group)
