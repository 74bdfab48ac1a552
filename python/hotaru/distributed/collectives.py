"""Collectives: what the processes of a group do with tensors together.

Each works in place where PyTorch's does, and is over when it returns; with
`async_op` it gives a `Work` instead, and whoever uses the tensors waits. A
process outside of the group gets None and a warning.
"""

from __future__ import annotations

from .. import is_tensor, view_as_real
from .._C import _CollectiveKind as Kind
from .groups import (
    check_group_rank,
    default_group,
    get_group_rank,
    member,
    warn_not_in_group,
)
from .options import AllgatherOptions, AllreduceCoalescedOptions
from .parts import gathered_of, scattered_of, split_of, written_back
from .process_group import ProcessGroup
from .reduce_op import ReduceOp, kind_of


def _check_tensor(value, name: str) -> None:
    if not is_tensor(value):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type "
            f"torch.Tensor\n             but got {type(value)} instead."
        )


def _check_list(values, name: str) -> None:
    if not isinstance(values, (list, tuple)) or not all(
        is_tensor(value) for value in values
    ):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type "
            f"List[torch.Tensor]\n             but got {type(values)} with "
            f"elements of type {[type(v) for v in values]}."
            if isinstance(values, (list, tuple))
            else f"Invalid function argument. Expected parameter `{name}` of "
            f"type List[torch.Tensor]\n             but got {type(values)} "
            "instead."
        )


def _group_of(group, what: str) -> ProcessGroup | None:
    found = member(group)
    if found is None:
        warn_not_in_group(what)
    return found


def root_of(group: ProcessGroup, rank, group_rank, default: int | None = None) -> int:
    """A rank of the group, given as one of the world's or of its own.

    Raises:
        ValueError: both, or neither where there is no default; a rank that is
            not in the group.
    """
    if rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if group_rank is not None:
        check_group_rank(group_rank, group.size(), group)
        return group_rank
    if rank is None:
        if default is None:
            raise ValueError("Must specify global_rank or group_rank")
        rank = default
    # The default group's methods say themselves what is no rank of it.
    return rank if group is default_group() else get_group_rank(group, rank)


def _check_dtypes(*tensors) -> None:
    kinds = [t.dtype.to_real() if t.is_complex() else t.dtype for t in tensors]
    for kind in kinds:
        if kind != kinds[0]:
            raise ValueError(
                "Invalid usage of tensors with different dtypes"
                f"Found {kinds[0]} and  {kind}"
            )


def _check_complex(tensor, op, what: str) -> None:
    kind = kind_of(op)[0]
    if tensor.is_complex() and kind in (
        ReduceOp.MAX,
        ReduceOp.MIN,
        ReduceOp.PRODUCT,
        ReduceOp.BAND,
        ReduceOp.BOR,
        ReduceOp.BXOR,
    ):
        raise ValueError(f"{what} does not support {kind} on complex tensors")


def _check_given(group, root: int, given, name: str, where: str) -> None:
    """A list on the root, and nowhere else."""
    if root == group.rank():
        if not given:
            raise ValueError(f"Argument ``{name}`` must be specified on {where} rank.")
    elif given:
        raise ValueError(
            f"Argument ``{name}`` must NOT be specified on non-{where} ranks."
        )


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op: bool = False):
    """Every process's tensor becomes the reduction of all."""
    _check_tensor(tensor, "tensor")
    found = _group_of(group, "all_reduce")
    if found is None:
        return None
    _check_complex(tensor, op, "all_reduce")
    if tensor.is_sparse:
        work = found.allreduce([tensor], op)
        return work if async_op else None
    return found._issue(Kind.ALL_REDUCE, (), (tensor,), op, async_op=async_op)


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op: bool = False):
    """The same for each of several tensors; a Future with `async_op`."""
    if is_tensor(tensors):
        tensors = [tensors]
    _check_list(tensors, "tensor")
    _check_dtypes(*tensors)
    for t in tensors:
        _check_complex(t, op, "all_reduce")
    found = _group_of(group, "all_reduce_coalesced")
    if found is None:
        return None
    opts = AllreduceCoalescedOptions()
    opts.reduceOp, opts.asyncOp = op, async_op
    # One message of one dtype: sums of complex numbers are sums of two.
    numbers = [view_as_real(t) if t.is_complex() else t for t in tensors]
    work = found.allreduce_coalesced(numbers, opts)
    return work.get_future() if async_op else None


def all_gather_coalesced(
    output_tensor_lists, input_tensor_list, group=None, async_op: bool = False
):
    """all_gather of several tensors; a Future with `async_op`."""
    if not isinstance(output_tensor_lists, list) or not all(
        isinstance(many, list) for many in output_tensor_lists
    ):
        raise TypeError(
            "Invalid function argument: output_tensor_lists should be a list"
        )
    _check_list(input_tensor_list, "input_tensor_list")
    found = _group_of(group, "all_gather_coalesced")
    if found is None:
        return None
    opts = AllgatherOptions()
    opts.asyncOp = async_op
    work = found.allgather_coalesced(output_tensor_lists, input_tensor_list, opts)
    return work.get_future() if async_op else None


def reduce(
    tensor,
    dst=None,
    op=ReduceOp.SUM,
    group=None,
    async_op: bool = False,
    group_dst=None,
):
    """The tensor of `dst` becomes the reduction; others' are undefined."""
    _check_tensor(tensor, "tensor")
    found = _group_of(group, "reduce")
    if found is None:
        return None
    _check_complex(tensor, op, "reduce")
    root = root_of(found, dst, group_dst)
    return found._issue(Kind.REDUCE, (), (tensor,), op, root, async_op=async_op)


def broadcast(tensor, src=None, group=None, async_op: bool = False, group_src=None):
    """Every process's tensor becomes that of `src`."""
    _check_tensor(tensor, "tensor")
    found = _group_of(group, "broadcast")
    if found is None:
        return None
    root = root_of(found, src, group_src)
    mine = root == found.rank()
    return found._issue(
        Kind.BROADCAST,
        (tensor,) if mine else (),
        () if mine else (tensor,),
        root=root,
        async_op=async_op,
        result=[tensor],
    )


def all_gather(tensor_list, tensor, group=None, async_op: bool = False):
    """Each process gets a list of all their tensors."""
    _check_list(tensor_list, "tensor_list")
    _check_tensor(tensor, "tensor")
    _check_dtypes(tensor, *tensor_list)
    found = _group_of(group, "all_gather")
    if found is None:
        return None
    return found._issue(Kind.ALL_GATHER, (tensor,), tensor_list, async_op=async_op)


def all_gather_into_tensor(
    output_tensor, input_tensor, group=None, async_op: bool = False
):
    """Their tensors one after the other, in one."""
    _check_tensor(input_tensor, "input_tensor")
    _check_tensor(output_tensor, "output_tensor")
    found = _group_of(group, "all_gather_into_tensor")
    if found is None:
        return None
    whole, parts = gathered_of(output_tensor, input_tensor, found.size())
    work = found._issue(
        Kind.ALL_GATHER,
        (input_tensor,),
        parts,
        async_op=async_op,
        result=[output_tensor],
    )
    written_back(work, output_tensor, whole, async_op)
    return work


all_gather_single = all_gather_into_tensor


def gather(
    tensor,
    gather_list=None,
    dst=None,
    group=None,
    async_op: bool = False,
    group_dst=None,
):
    """`dst` gets a list of all their tensors."""
    _check_tensor(tensor, "tensor")
    if gather_list:
        _check_list(gather_list, "gather_list")
        _check_dtypes(tensor, *gather_list)
    found = _group_of(group, "gather")
    if found is None:
        return None
    root = root_of(found, dst, group_dst, 0)
    _check_given(found, root, gather_list, "gather_list", "destination")
    return found._issue(
        Kind.GATHER, (tensor,), gather_list or (), root=root, async_op=async_op
    )


def gather_single(
    tensor,
    gather_tensor=None,
    dst=None,
    group=None,
    async_op: bool = False,
    group_dst=None,
):
    """`dst` gets their tensors one after the other, in one that is contiguous.

    ValueError: it is not there where it is needed, has another number of
    elements, or is not contiguous.
    """
    _check_tensor(tensor, "tensor")
    found = _group_of(group, "gather_single")
    if found is None:
        return None
    parts = None
    if root_of(found, dst, group_dst, 0) == found.rank():
        if gather_tensor is None:
            raise ValueError(
                "Argument ``gather_tensor`` must be specified on destination rank."
            )
        _check_tensor(gather_tensor, "gather_tensor")
        if not gather_tensor.is_contiguous():
            raise ValueError("``gather_tensor`` must be contiguous.")
        if gather_tensor.numel() != found.size() * tensor.numel():
            raise ValueError(
                f"``gather_tensor`` has {gather_tensor.numel()} elements; "
                f"{found.size()} ranks send {tensor.numel()} each"
            )
        rows = gather_tensor.view(found.size(), tensor.numel())
        parts = [row.view(tensor.shape) for row in rows.unbind(0)]
    elif gather_tensor is not None:
        _check_tensor(gather_tensor, "gather_tensor")
    return gather(tensor, parts, dst, group, async_op=async_op, group_dst=group_dst)


gather_into_tensor = gather_single


def scatter(
    tensor,
    scatter_list=None,
    src=None,
    group=None,
    async_op: bool = False,
    group_src=None,
):
    """Each process gets one tensor of the list of `src`."""
    _check_tensor(tensor, "tensor")
    if scatter_list:
        _check_list(scatter_list, "scatter_list")
        _check_dtypes(tensor, *scatter_list)
    found = _group_of(group, "scatter")
    if found is None:
        return None
    root = root_of(found, src, group_src, 0)
    _check_given(found, root, scatter_list, "scatter_list", "source")
    return found._issue(
        Kind.SCATTER, scatter_list or (), (tensor,), root=root, async_op=async_op
    )


def reduce_scatter(
    output, input_list, op=ReduceOp.SUM, group=None, async_op: bool = False
):
    """Each process gets the reduction of the tensors for it."""
    _check_tensor(output, "output")
    _check_list(input_list, "input_list")
    _check_dtypes(output, *input_list)
    found = _group_of(group, "reduce_scatter")
    if found is None:
        return None
    return found._issue(
        Kind.REDUCE_SCATTER, input_list, (output,), op, async_op=async_op
    )


def reduce_scatter_tensor(
    output, input, op=ReduceOp.SUM, group=None, async_op: bool = False
):
    """The same of equal parts of one tensor."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    found = _group_of(group, "reduce_scatter_tensor")
    if found is None:
        return None
    parts = scattered_of(input, output, found.size())
    return found._issue(Kind.REDUCE_SCATTER, parts, (output,), op, async_op=async_op)


reduce_scatter_single = reduce_scatter_tensor


def all_to_all(
    output_tensor_list, input_tensor_list, group=None, async_op: bool = False
):
    """Each process sends the i-th tensor to the i-th process."""
    _check_list(output_tensor_list, "output_tensor_list")
    _check_list(input_tensor_list, "input_tensor_list")
    _check_dtypes(*output_tensor_list, *input_tensor_list)
    found = _group_of(group, "all_to_all")
    if found is None:
        return None
    return found._issue(
        Kind.ALL_TO_ALL, input_tensor_list, output_tensor_list, async_op=async_op
    )


def all_to_all_single(
    output,
    input,
    output_split_sizes=None,
    input_split_sizes=None,
    group=None,
    async_op: bool = False,
):
    """The same of rows of one tensor, equally many or as the lists say."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    _check_dtypes(output, input)
    found = _group_of(group, "all_to_all_single")
    if found is None:
        return None
    _, inputs = split_of(input, input_split_sizes, found.size())
    whole, outputs = split_of(output, output_split_sizes, found.size())
    work = found._issue(
        Kind.ALL_TO_ALL, inputs, outputs, async_op=async_op, result=[output]
    )
    written_back(work, output, whole, async_op)
    return work


def barrier(group=None, async_op: bool = False, device_ids=None, timeout=None):
    """Returns when every process has come."""
    found = _group_of(group, "barrier")
    if found is None:
        return None
    if isinstance(device_ids, int):
        raise TypeError(
            "Invalid function argument: device_ids type should be List[int]"
        )
    return found._issue(Kind.BARRIER, timeout=timeout, async_op=async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks: bool = False) -> None:
    """A barrier whose error on rank 0 names who has not come."""
    found = _group_of(group, "monitored_barrier")
    if found is not None:
        found.monitored_barrier(timeout, wait_all_ranks)
