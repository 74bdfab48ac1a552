"""Collectives that give new tensors, by PyTorch's names of them.

A group is a ProcessGroup, a list of ranks or a mesh of one dimension. They are
done when they return, so there is nothing to wait for.
"""

from __future__ import annotations

from .. import Tensor, cat, no_grad
from . import groups
from .collectives import all_gather_into_tensor
from .collectives import all_reduce as _all_reduce
from .collectives import all_to_all_single as _all_to_all_single
from .collectives import broadcast as _broadcast
from .collectives import reduce_scatter_tensor as _reduce_scatter_tensor
from .device_mesh import DeviceMesh
from .groups import get_process_group_ranks, new_group
from .nn import functional
from .process_group import ProcessGroup
from .reduce_op import ReduceOp

__all__ = [
    "all_gather_tensor",
    "all_gather_tensor_autograd",
    "all_reduce",
    "all_to_all_single",
    "all_to_all_single_autograd",
    "broadcast",
    "reduce_scatter_tensor",
    "reduce_scatter_tensor_autograd",
    "wait_tensor",
]


def _group_of(group) -> ProcessGroup | None:
    if isinstance(group, DeviceMesh):
        return group.get_group()
    if isinstance(group, tuple):  # a mesh and one of its dimensions
        return group[0].get_group(group[1])
    if isinstance(group, list):
        return _of_ranks(group)
    return group


def _of_ranks(ranks: list[int]) -> ProcessGroup | None:
    """The group that has them, or a new one."""
    for known in groups._backends:
        if get_process_group_ranks(known) == ranks:
            return known
    return new_group(ranks)


def _op_of(name) -> ReduceOp.RedOpType:
    return ReduceOp.RedOpType[name.upper()] if isinstance(name, str) else name


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor."""
    return tensor


@no_grad()
def broadcast(self: Tensor, src: int, group, tag: str = "") -> Tensor:
    """Returns what `src` gave."""
    out = self.clone()
    _broadcast(out, src, _group_of(group))
    return out


@no_grad()
def all_reduce(self: Tensor, reduceOp: str, group, tag: str = "") -> Tensor:
    """The reduction over the processes."""
    out = self.clone()
    _all_reduce(out, _op_of(reduceOp), _group_of(group))
    return out


@no_grad()
def all_gather_tensor(self: Tensor, gather_dim: int, group, tag: str = "") -> Tensor:
    """Returns what all gave, one after the other along a dimension."""
    found = _group_of(group)
    whole = self.new_empty((found.size(), *self.shape))
    all_gather_into_tensor(whole, self.contiguous(), found)
    return cat(list(whole), gather_dim)


@no_grad()
def reduce_scatter_tensor(
    self: Tensor, reduceOp: str, scatter_dim: int, group, tag: str = ""
) -> Tensor:
    """This process's part, along a dimension, of the reduction."""
    found = _group_of(group)
    parts = cat(self.chunk(found.size(), scatter_dim))
    out = self.new_empty((parts.size(0) // found.size(), *parts.shape[1:]))
    _reduce_scatter_tensor(out, parts, _op_of(reduceOp), found)
    return out


def all_gather_tensor_autograd(
    self: Tensor, gather_dim: int, group, tag: str = ""
) -> Tensor:
    """Joins what all gave; each gets the sum of what all have as gradient."""
    return cat(functional.all_gather(self, _group_of(group)), gather_dim)


def reduce_scatter_tensor_autograd(
    self: Tensor, reduceOp: str, scatter_dim: int, group, tag: str = ""
) -> Tensor:
    """This process's part of the reduction; gradients go back to all."""
    found = _group_of(group)
    parts = [p.contiguous() for p in self.chunk(found.size(), scatter_dim)]
    out = self.new_empty(parts[0].shape)
    return functional.reduce_scatter(out, parts, _op_of(reduceOp), found)


def _output_of(self: Tensor, splits) -> Tensor:
    rows = self.size(0) if splits is None else sum(splits)
    return self.new_empty((rows, *self.shape[1:]))


@no_grad()
def all_to_all_single(
    self: Tensor, output_split_sizes, input_split_sizes, group, tag: str = ""
) -> Tensor:
    """The rows that all gave to this process."""
    out = _output_of(self, output_split_sizes)
    _all_to_all_single(
        out, self, output_split_sizes, input_split_sizes, _group_of(group)
    )
    return out


def all_to_all_single_autograd(
    self: Tensor, output_split_sizes, input_split_sizes, group, tag: str = ""
) -> Tensor:
    """The same; gradients go back."""
    return functional.all_to_all_single(
        _output_of(self, output_split_sizes),
        self,
        output_split_sizes,
        input_split_sizes,
        _group_of(group),
    )


def permute_tensor(self: Tensor, src_dst: list[int], group, tag: str = "") -> Tensor:
    """A tensor of another rank: rank i sends its own to `src_dst[i]`.

    ValueError: it does not name every rank once.
    """
    found = _group_of(group)
    if sorted(src_dst) != list(range(found.size())):
        raise ValueError(
            f"permute_tensor: {src_dst} does not name each of {found.size()} ranks once"
        )
    count, rank = self.numel(), found.rank()
    sends = [count if i == src_dst[rank] else 0 for i in range(found.size())]
    takes = [count if dst == rank else 0 for dst in src_dst]
    moved = all_to_all_single(self.reshape(-1), takes, sends, group, tag)
    return moved.view(self.shape)


class AsyncCollectiveTensor(Tensor):
    """A result that is still under way: none is of this class, as collectives
    here return when they are done.
    """

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError(
            "AsyncCollectiveTensor: collectives return when they are done; use "
            "their results as they are"
        )
