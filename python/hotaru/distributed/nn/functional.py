"""Collectives as functions that gradients pass through.

They return what each process receives. In the backward pass every process of
the group has to take part in the same collectives, in reverse.
"""

from __future__ import annotations

from ... import empty_like, zeros_like
from ...autograd import Function
from .. import collectives
from ..collectives import root_of
from ..groups import member
from ..reduce_op import ReduceOp

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


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, tensor, root, group):
        ctx.root, ctx.group = root, group
        out = tensor.clone()
        collectives.broadcast(out, group=group, group_src=root)
        return out

    @staticmethod
    def backward(ctx, grad):
        grad = _Reduce.apply(grad, ctx.root, ReduceOp.SUM, ctx.group)
        if ctx.group.rank() != ctx.root:
            grad = zeros_like(grad)
        return grad, None, None


class _Reduce(Function):
    @staticmethod
    def forward(ctx, tensor, root, op, group):
        ctx.root, ctx.group = root, group
        out = tensor.clone()
        collectives.reduce(out, op=op, group=group, group_dst=root)
        return out

    @staticmethod
    def backward(ctx, grad):
        return _Broadcast.apply(grad, ctx.root, ctx.group), None, None, None


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, tensor, op, group):
        ctx.op, ctx.group = op, group
        out = tensor.clone()
        collectives.all_reduce(out, op, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return _AllReduce.apply(grad, ctx.op, ctx.group), None, None


class _Gather(Function):
    @staticmethod
    def forward(ctx, tensor, root, group):
        ctx.root, ctx.group = root, group
        parts = [zeros_like(tensor) for _ in range(group.size())]
        mine = group.rank() == root
        collectives.gather(tensor, parts if mine else None, group=group, group_dst=root)
        return tuple(parts)

    @staticmethod
    def backward(ctx, *grads):
        return _Scatter.apply(ctx.root, ctx.group, *grads), None, None


class _Scatter(Function):
    @staticmethod
    def forward(ctx, root, group, *tensors):
        ctx.root, ctx.group = root, group
        out = empty_like(tensors[0])
        mine = group.rank() == root
        collectives.scatter(
            out, list(tensors) if mine else None, group=group, group_src=root
        )
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, None, *_Gather.apply(grad, ctx.root, ctx.group)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, op, group, *tensors):
        ctx.group = group
        out = empty_like(tensors[group.rank()])
        collectives.reduce_scatter(out, list(tensors), op, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, None, *_AllGather.apply(grad, ctx.group)


class _AllGather(Function):
    @staticmethod
    def forward(ctx, tensor, group):
        ctx.group = group
        parts = [empty_like(tensor) for _ in range(group.size())]
        collectives.all_gather(parts, tensor, group)
        return tuple(parts)

    @staticmethod
    def backward(ctx, *grads):
        grads = [g.contiguous() for g in grads]
        return _ReduceScatter.apply(ReduceOp.SUM, ctx.group, *grads), None


class _AllToAll(Function):
    @staticmethod
    def forward(ctx, group, shapes, *tensors):
        ctx.group, ctx.shapes = group, [t.shape for t in tensors]
        outputs = [tensors[0].new_empty(shape) for shape in shapes]
        collectives.all_to_all(outputs, list(tensors), group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx, *grads):
        return None, None, *_AllToAll.apply(ctx.group, ctx.shapes, *grads)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx, group, shape, output_splits, input_splits, tensor):
        ctx.group, ctx.shape = group, tensor.shape
        ctx.splits = (input_splits, output_splits)
        out = tensor.new_empty(shape)
        collectives.all_to_all_single(out, tensor, output_splits, input_splits, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return (
            None,
            None,
            None,
            None,
            _AllToAllSingle.apply(ctx.group, ctx.shape, *ctx.splits, grad),
        )


def broadcast(tensor, src, group=None):
    """Returns what process `src` gave."""
    found = member(group)
    root = root_of(found, src, None)
    return _Broadcast.apply(tensor, root, found)


def gather(tensor, dst=0, group=None):
    """Returns what every process gave, as a tuple; zeros but on `dst`."""
    found = member(group)
    return _Gather.apply(tensor, root_of(found, dst, None), found)


def scatter(tensors, src=0, group=None):
    """This process's tensor of those that `src` gave."""
    found = member(group)
    return _Scatter.apply(root_of(found, src, None), found, *tensors)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    """The reduction over the processes, on `dst`."""
    found = member(group)
    return _Reduce.apply(tensor, root_of(found, dst, None), op, found)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    """This process's part of the reduction."""
    return _ReduceScatter.apply(op, member(group), *input_list)


def all_gather(tensor, group=None):
    """Returns what every process gave, as a tuple."""
    return _AllGather.apply(tensor, member(group))


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    """Returns what every process gave to this one, as a tuple."""
    shapes = [t.shape for t in output_tensor_list]
    return _AllToAll.apply(member(group), shapes, *input_tensor_list)


def all_to_all_single(
    output, input, output_split_sizes=None, input_split_sizes=None, group=None
):
    """The parts that every process gave to this one, as one tensor."""
    return _AllToAllSingle.apply(
        member(group), output.shape, output_split_sizes, input_split_sizes, input
    )


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    """The reduction over the processes."""
    return _AllReduce.apply(tensor, op, member(group))


def _all_gather_base(output_tensor, input_tensor, group=None):
    """Joins what every process gave, in order; also in the output."""
    parts = all_gather(input_tensor, group)
    from ... import cat

    out = cat(parts).view(output_tensor.shape)
    output_tensor.detach().copy_(out.detach())
    return out
